import type { Cached, UntypedObject } from '../../api/index.ts';
import { apiVersionOf, type Resource } from '../registry/index.ts';
import type { Page } from '../rest/list.ts';
import type { Entry } from '../storage/index.ts';
import { tableOf, type IncludeObject } from '../table/index.ts';
import type { Representation } from './negotiate.ts';

/** The form of objects in a response, for one client or for several. */
export interface View {
  readonly representation: Representation;
  readonly includeObject: IncludeObject;
  /** Ages in tables are relative to this time. */
  readonly nowMs: number;
}

/** One object as JSON. */
export function showObject(entry: Entry, resource: Resource, view: View): string {
  switch (view.representation) {
    case 'object':
      return entry.json;
    case 'metadata':
      return metadataJson(entry.object);
    case 'table':
      return JSON.stringify(tableOf(resource, [entry.object], view, { resourceVersion: String(entry.version) }));
  }
}

function metadataJson({ metadata }: Cached<UntypedObject>): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)}}`;
}

/** A list as JSON. The list states the apiVersion and kind of its items once. */
export function showList({ entries, metadata }: Page, resource: Resource, view: View): string {
  const meta = JSON.stringify(metadata);
  switch (view.representation) {
    case 'object': {
      const apiVersion = apiVersionOf(resource);
      const isCustom = resource.type.kind === 'custom';
      const prefix = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(resource.kind)},`;
      const items = entries.map(({ json }) =>
        !isCustom && json.startsWith(prefix) ? `{${json.slice(prefix.length)}` : json,
      );
      const head = `{"kind":${JSON.stringify(listKindOf(resource))},"apiVersion":${JSON.stringify(apiVersion)}`;
      return `${head},"metadata":${meta},"items":[${items.join(',')}]}`;
    }
    case 'metadata': {
      const items = entries.map(({ object }) => metadataJson(object));
      return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":${meta},"items":[${items.join(',')}]}`;
    }
    case 'table':
      return JSON.stringify(
        tableOf(
          resource,
          entries.map(({ object }) => object),
          view,
          metadata,
        ),
      );
  }
}

export function listKindOf({ kind, type }: Resource): string {
  return type.kind === 'custom' ? type.custom.listKind : `${kind}List`;
}
