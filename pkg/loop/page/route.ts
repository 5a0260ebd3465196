import type { Filter } from '../protocol.ts';

/** The parts of a link to an object. Cluster-scoped objects have no namespace. */
export interface ObjectPath {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** What the page shows. It is kept in the hash of the address, so that a link to it can be shared. */
export type Route =
  | { readonly view: 'cluster' | 'loop'; readonly filter: Filter }
  | { readonly view: 'object'; readonly object: ObjectPath };

const filterFields = ['namespace', 'kind', 'name'] as const;

/** Any hash that is not a route shows the cluster. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view, ...rest] = path.split('/').map(decodePart);
  const [resource = '', namespace = '', name = ''] = rest;
  if (view === 'objects' && resource !== '' && name !== '') {
    return { view: 'object', object: { resource, namespace: namespace === '-' ? undefined : namespace, name } };
  }
  const values = new URLSearchParams(query);
  const filter = Object.fromEntries(filterFields.map((field) => [field, values.get(field) ?? '']));
  return { view: view === 'loop' ? 'loop' : 'cluster', filter };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a link that was cut off
  }
}

export function hrefOfView(view: 'cluster' | 'loop', filter: Filter): string {
  const query = queryOfFilter(filter);
  return `#/${view}${query === '' ? '' : `?${query}`}`;
}

export function hrefOfObject(object: ObjectPath): string {
  return `#/${pathOfObject(object)}`;
}

/** The same path names the object in the hash, and its text on the server. */
export function pathOfObject(object: ObjectPath): string {
  return `objects/${idOfObject(object)}`;
}

export function queryOfRoute(route: Route): string {
  return route.view === 'object'
    ? new URLSearchParams({ object: idOfObject(route.object) }).toString()
    : queryOfFilter(route.filter);
}

function idOfObject({ resource, namespace, name }: ObjectPath): string {
  return [resource, namespace ?? '-', name].map(encodeURIComponent).join('/');
}

function queryOfFilter(filter: Filter): string {
  const query = new URLSearchParams();
  for (const field of filterFields) {
    const value = filter[field] ?? '';
    if (value !== '') query.set(field, value);
  }
  return query.toString();
}

/** The object that a key of a queue names: `default/web`, or `node-1` without a namespace. */
export function objectOfKey(resource: string, key: string): ObjectPath | undefined {
  const parts = key.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1 && first !== '') return { resource, name: first };
  if (parts.length === 2 && first !== '' && second !== '') return { resource, namespace: first, name: second };
  return undefined;
}
