import * as z from 'zod';

import {
  apiVersionOf,
  CustomResourceDefinitions,
  defineKind,
  type KubeObject,
  type UntypedObject,
} from '../api/index.ts';
import { DefinitionError } from './definition-error.ts';
import type { CrdManifest, Resource, ResourceVersion } from './resource.ts';

const stringMap = z.record(z.string(), z.string());

const manifestSchema = z.looseObject({
  kind: z.literal('CustomResourceDefinition'),
  metadata: z.looseObject({ name: z.string(), labels: stringMap.optional(), annotations: stringMap.optional() }),
  spec: z.looseObject({
    group: z.string(),
    scope: z.enum(['Namespaced', 'Cluster']),
    names: z.looseObject({ kind: z.string(), plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean(), storage: z.boolean() })).min(1),
  }),
});

/**
 * A resource from the CustomResourceDefinition of another project, parsed from YAML or JSON. `version` defaults to the
 * stored one. The command `crd-types` writes the type `T` from the same file.
 */
export function fromCrd<T extends KubeObject = UntypedObject>(manifest: unknown, version?: string): Resource<T> {
  const read = manifestSchema.safeParse(manifest);
  if (!read.success) {
    throw new DefinitionError(`not a CustomResourceDefinition: ${z.prettifyError(read.error)}`, { cause: read.error });
  }
  const { group, scope, names, versions } = read.data.spec;
  const served = versions.filter((each) => each.served).map(({ name }) => name);
  const chosen = version ?? versions.find(({ storage }) => storage)?.name ?? '';
  if (!served.includes(chosen)) {
    throw new DefinitionError(`${read.data.metadata.name}: version ${chosen} is not served, but ${served.join(', ')}`);
  }
  const crd = manifestOf(read.data);
  const versionIn = (name: string): ResourceVersion<T> => ({
    ...defineKind<T>({
      group,
      version: name,
      kind: names.kind,
      resource: names.plural,
      namespaced: scope === 'Namespaced',
    }),
    crd,
    isExternal: true,
  });
  return { ...versionIn(chosen), versions: Object.fromEntries(served.map((name) => [name, versionIn(name)])) };
}

/** What its author wrote: a definition that was read from a server has fields that only the server may set. */
function manifestOf({ metadata, spec }: z.output<typeof manifestSchema>): CrdManifest {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...annotations } = metadata.annotations ?? {};
  const { name, labels } = metadata;
  return {
    apiVersion: apiVersionOf(CustomResourceDefinitions),
    kind: CustomResourceDefinitions.kind,
    metadata: { name, annotations, ...(labels !== undefined && { labels }) },
    spec, // checked as far as this program reads it
  };
}
