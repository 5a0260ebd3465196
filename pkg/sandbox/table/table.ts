import type { Cached, ListMeta, UntypedObject } from '../../api/index.ts';
import { apiVersionOf, storageId, type Resource } from '../registry/index.ts';
import { customColumns } from './custom.ts';
import { builtInColumns } from './built-in.ts';
import { age, type Column } from './column.ts';

/** The part of the object in a row, beside the cells. */
export type IncludeObject = 'Metadata' | 'Object' | 'None';

const nameColumn: Column = {
  name: 'Name',
  format: 'name',
  cell: ({ metadata }) => metadata.name,
};
const ageColumn: Column = { name: 'Age', cell: ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs) };
const createdColumn: Column = { name: 'Created At', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp };

/** Objects as rows of the columns of their kind, as `kubectl get` shows them. */
export function tableOf(
  resource: Resource,
  objects: readonly Cached<UntypedObject>[],
  view: { readonly includeObject: IncludeObject; readonly nowMs: number },
  metadata: ListMeta,
): object {
  const columns = columnsOf(resource);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ name, type = 'string', format = '', priority = 0, description = '' }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, view.nowMs) ?? null),
      ...included(object, resource, view.includeObject),
    })),
  };
}

function included(object: Cached<UntypedObject>, resource: Resource, include: IncludeObject): object {
  if (include === 'None') return {};
  if (include === 'Object') return { object: { ...object, kind: resource.kind, apiVersion: apiVersionOf(resource) } };
  return { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata } };
}

function columnsOf(resource: Resource): readonly Column[] {
  if (resource.type.kind === 'custom') return [nameColumn, ...customColumns(resource.type.custom.columns, ageColumn)];
  const own = builtInColumns(storageId(resource));
  return own ?? [nameColumn, createdColumn];
}
