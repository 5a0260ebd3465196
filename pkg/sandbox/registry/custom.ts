import type { CustomResourceDefinition } from '../../api/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Resource } from './resource.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly jsonPath: string;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

/** One version of a definition. */
export interface CustomType {
  readonly schema: Fields | undefined;
  readonly columns: readonly PrinterColumn[];
  readonly scale: ScalePaths | undefined;
  readonly hasStatus: boolean;
  readonly selectableFields: readonly string[];
  readonly listKind: string;
  readonly storageVersion: string;
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs = ['get', 'patch', 'update'];

export function customResources({ spec }: CustomResourceDefinition): Resource[] {
  const { group, names, scope, versions } = spec;
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? '';
  return versions
    .filter(({ served }) => served)
    .map((version): Resource => {
      const { status, scale } = version.subresources ?? {};
      const schema: unknown = version.schema?.openAPIV3Schema;
      const custom: CustomType = {
        schema: isFields(schema) ? schema : undefined,
        columns: version.additionalPrinterColumns ?? [],
        scale,
        hasStatus: status !== undefined,
        selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
        listKind: names.listKind ?? `${names.kind}List`,
        storageVersion,
      };
      return {
        group,
        version: version.name,
        kind: names.kind,
        resource: names.plural,
        singular: names.singular ?? names.kind.toLowerCase(),
        namespaced: scope === 'Namespaced',
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
        verbs,
        subresources: new Map([
          ...(status === undefined ? [] : [['status', subresourceVerbs] as const]),
          ...(scale === undefined ? [] : [['scale', subresourceVerbs] as const]),
        ]),
        type: { kind: 'custom', custom },
      };
    });
}
