// Writes pkg/protobuf/messages.json: the messages of the kinds that are watched as protobuf, from the sandbox's description of
// all built-in kinds, which `pkg/sandbox/schema/generate.go` takes from Kubernetes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

interface DescribedType {
  readonly f: Readonly<Record<string, { readonly t: string; readonly z?: string }>>;
  readonly p?: Readonly<Record<string, string>>;
}

interface DescribedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: string;
  readonly verbs: readonly string[];
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** What a watch sends for an object of which only metadata is asked for. It is in no OpenAPI document. */
const partial: DescribedType = { f: { metadata: { t: `#${meta}.ObjectMeta` } }, p: { 1: 'metadata' } };
/** The form of errors, and the one above. */
const forms = {
  'v1/Status': `${meta}.Status`,
  'meta.k8s.io/v1/PartialObjectMetadata': `${meta}.PartialObjectMetadata`,
};
/** Controllers do not watch events. The schemas of custom resources have a form of their own in protobuf. */
const isWatched = ({ kind, verbs }: DescribedResource): boolean =>
  verbs.includes('watch') && kind !== 'Event' && kind !== 'CustomResourceDefinition';
/** Nobody reads them, and they are half of an object. */
const leftOut = new Set(['managedFields']);

/** `core.v1.Pod` for `io.k8s.api.core.v1.Pod`. */
const shortName = (name: string): string => name.split('.').slice(-3).join('.');

/** The messages of these types, and of all types in them. */
function describe(types: Readonly<Record<string, DescribedType>>, names: readonly string[]): object {
  const messages: Record<string, Record<string, string>> = {};
  const add = (name: string): string => {
    const short = shortName(name);
    const type = types[name];
    if (messages[short] !== undefined || type === undefined) return short;
    const fields: Record<string, string> = {};
    messages[short] = fields;
    for (const [number, target] of Object.entries(type.p ?? {})) {
      if (target.startsWith('@')) fields[number] = `@${add(target.slice(1))}`;
      else if (!leftOut.has(target)) fields[number] = `${target} ${describeField(type.f[target], add)}`;
    }
    return short;
  };
  for (const name of names) add(name);
  return messages;
}

function describeField(field: DescribedType['f'][string] | undefined, add: (name: string) => string): string {
  const [, mark = '', type = ''] = /^((?:\[\]|\{\})*)(.*)$/.exec(field?.t ?? '') ?? [];
  const zero = field?.z === 'drop' ? '?' : '';
  if (mark === '{}[]') return `{}strings${zero}`;
  return `${mark}${type.startsWith('#') ? add(type.slice(1)) : type.replace(/^any$/, 'json')}${zero}`;
}

/** The contents of the file. */
export function describeMessages(): object {
  const { resources, types } = JSON.parse(readFileSync(join(root, 'pkg/sandbox/schema/built-in.json'), 'utf8')) as {
    resources: readonly DescribedResource[];
    types: Record<string, DescribedType>;
  };
  const watched = resources
    .filter(isWatched)
    .map(({ group, version, kind, type }) => [[group, version, kind].filter((part) => part !== '').join('/'), type]);
  const kinds: Readonly<Record<string, string>> = { ...Object.fromEntries(watched), ...forms };
  const all = { ...types, [forms['meta.k8s.io/v1/PartialObjectMetadata']]: partial };
  return {
    kinds: Object.fromEntries(Object.entries(kinds).map(([kind, name]) => [kind, shortName(name)])),
    messages: describe(all, Object.values(kinds)),
  };
}

if (import.meta.main) {
  const path = join(root, 'pkg/protobuf/messages.json');
  writeFileSync(path, `${JSON.stringify(describeMessages(), undefined, 2)}\n`);
}
