import * as z from 'zod';

import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { Kind } from '../../pkg/api/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { typeOfRoot, type Schema, type Schemas } from './schema-types.ts';
import type { Type } from './types.ts';

const indexSchema = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) });
const kindSchema = z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() }));
const documentSchema = z.object({
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }).optional(),
});

/** The types of kinds, from the OpenAPI documents of the server. One of these is for one policy: documents are large. */
export class KindTypes {
  readonly #client: Client;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #documents = new Map<string, Schemas | undefined>();
  #paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> | undefined;

  constructor(client: Client, logger: Pick<Logger, 'warn'>) {
    this.#client = client;
    this.#logger = logger;
  }

  /** Undefined if the server has no schema of the kind, or if it cannot be read: a policy is checked as far as possible. */
  async schemaOf(
    kind: Pick<Kind, 'group' | 'version' | 'kind'>,
    signal: AbortSignal,
  ): Promise<{ readonly type: Type | undefined } | undefined> {
    const { group, version } = kind;
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    if (!this.#documents.has(path)) this.#documents.set(path, await this.#read(path, signal));
    const schemas = this.#documents.get(path);
    const root = Object.values(schemas ?? {}).find((schema) => isOf(schema, kind));
    return schemas === undefined || root === undefined ? undefined : { type: typeOfRoot(root, schemas) };
  }

  async #read(path: string, signal: AbortSignal): Promise<Schemas | undefined> {
    try {
      this.#paths ??= indexSchema.parse(await this.#get('/openapi/v3', signal)).paths;
      const address = this.#paths[path]?.serverRelativeURL;
      if (address === undefined) return undefined;
      const { components } = documentSchema.parse(await this.#get(address, signal));
      return components?.schemas ?? {};
    } catch (error) {
      signal.throwIfAborted();
      // Not found: the group has just gone. An aggregated API that is down must not hold up the status.
      if (!isNotFound(error)) this.#logger.warn({ err: error, document: path }, 'OpenAPI document cannot be read');
      return undefined;
    }
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#client.request({ method: 'GET', path }, signal);
    return typeof answer === 'string' ? (JSON.parse(answer) as unknown) : answer; // the server calls its index plain text
  }
}

function isOf(schema: Schema, { group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>): boolean {
  const listed = kindSchema.safeParse((schema as Record<string, unknown>)['x-kubernetes-group-version-kind']);
  return (
    listed.success && listed.data.some((each) => each.group === group && each.version === version && each.kind === kind)
  );
}
