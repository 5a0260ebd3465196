import * as z from 'zod';
import type { Sender } from './sender.ts';

/** The type of a field, from the server's own schema. Fields are resolved lazily: some types are recursive. */
export type FieldType =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, () => FieldType>; readonly required: Set<string> }
  | { readonly kind: 'map'; readonly values: () => FieldType }
  | { readonly kind: 'list'; readonly items: () => FieldType }
  | { readonly kind: 'string'; readonly options: readonly string[] }
  | { readonly kind: 'integer'; readonly bits: 32 | 64 }
  | { readonly kind: 'number' | 'boolean' | 'time' | 'microTime' | 'bytes' | 'quantity' | 'intOrString' }
  | { readonly kind: 'anything' };

/** A kind whose objects the server stores. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  readonly type: FieldType;
}

/** `Deployment.apps`, or `Pod` for the core group. */
export function idOf({ group, kind }: Pick<ServedKind, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

export function apiVersionOf({ group, version }: Pick<ServedKind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The path of the objects of a kind: in one namespace, or in all if absent. */
export function pathOf({ group, version, resource, namespaced }: ServedKind, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced && namespace !== undefined ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`;
}

const index = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) });
const schemaNode = z.looseObject({
  $ref: z.string().optional(),
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  required: z.array(z.string()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  allOf: z.array(z.unknown()).optional(),
});
type SchemaNode = z.output<typeof schemaNode>;
const operation = z.looseObject({
  'x-kubernetes-group-version-kind': z.object({ group: z.string(), version: z.string(), kind: z.string() }).optional(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
});
const document = z.object({
  paths: z.record(z.string(), z.looseObject({ get: operation.optional(), post: operation.optional() })),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }).optional(),
});
type OpenApiDocument = z.output<typeof document>;

/** Every kind that can be created and listed, in the preferred version of each group. */
export async function readServedKinds(sender: Sender): Promise<readonly ServedKind[]> {
  const { paths } = index.parse((await sender.send('GET', '/openapi/v3')).body);
  const kinds = new Map<string, ServedKind>();
  for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
    if (!/^apis?\/(?:[^/]+\/)?v\d+\w*$/.test(name)) continue;
    const read = document.parse((await sender.send('GET', serverRelativeURL)).body);
    for (const kind of kindsOf(read)) kinds.set(idOf(kind), kind);
  }
  return [...kinds.values()];
}

function kindsOf(read: OpenApiDocument): ServedKind[] {
  const types = new TypeReader(read.components?.schemas ?? {});
  const kinds: ServedKind[] = [];
  for (const [path, { get, post }] of Object.entries(read.paths)) {
    const item = `${path}/{name}`;
    const named = post?.['x-kubernetes-group-version-kind'];
    // Reviews and subresources can be posted but not listed: they are not stored.
    if (named === undefined || get === undefined || read.paths[item] === undefined) continue;
    kinds.push({
      ...named,
      resource: path.slice(path.lastIndexOf('/') + 1),
      namespaced: path.includes('/{namespace}/'),
      hasStatus: read.paths[`${item}/status`] !== undefined,
      type: types.read(Object.values(post?.requestBody?.content ?? {})[0]?.schema ?? {}),
    });
  }
  return kinds;
}

class TypeReader {
  readonly #schemas: Readonly<Record<string, unknown>>;
  readonly #named = new Map<string, FieldType>();

  constructor(schemas: Readonly<Record<string, unknown>>) {
    this.#schemas = schemas;
  }

  read(schema: unknown): FieldType {
    const node = schemaNode.parse(schema);
    const [only] = node.allOf ?? [];
    if (node.$ref === undefined) return only === undefined ? this.#readNode(node) : this.read(only);
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const type = this.#readNamed(name);
    this.#named.set(name, type);
    return type;
  }

  #readNamed(name: string): FieldType {
    if (name.endsWith('.Quantity')) return { kind: 'quantity' };
    if (name.endsWith('.MicroTime')) return { kind: 'microTime' };
    return this.read(this.#schemas[name] ?? {});
  }

  #readNode(node: SchemaNode): FieldType {
    if (node.format === 'int-or-string') return { kind: 'intOrString' };
    switch (node.type) {
      case 'string':
        if (node.format === 'date-time') return { kind: 'time' };
        return node.format === 'byte' ? { kind: 'bytes' } : { kind: 'string', options: node.enum ?? [] };
      case 'integer':
        return { kind: 'integer', bits: node.format === 'int32' ? 32 : 64 };
      case 'number':
        return { kind: 'number' };
      case 'boolean':
        return { kind: 'boolean' };
      case 'array':
        return { kind: 'list', items: () => this.read(node.items ?? {}) };
      case 'object':
        return this.#readObject(node);
      default:
        return { kind: 'anything' };
    }
  }

  #readObject({ properties, additionalProperties, required = [] }: SchemaNode): FieldType {
    if (properties !== undefined) {
      const fields = Object.entries(properties).map(([name, schema]) => [name, () => this.read(schema)] as const);
      return { kind: 'object', fields: new Map(fields), required: new Set(required) };
    }
    if (typeof additionalProperties !== 'object') return { kind: 'anything' };
    return { kind: 'map', values: () => this.read(additionalProperties) };
  }
}
