import { apiVersionOf, splitKey, type Kind, type ObjectKey } from '../api/index.ts';
import { InvalidNameError } from './errors.ts';

/** `/api/v1/namespaces/default/pods`, or `/api/v1/pods` without a namespace. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (namespace === undefined || namespace === '' || !kind.namespaced) return `${root}/${kind.resource}`;
  return `${root}/namespaces/${segment(namespace)}/${kind.resource}`;
}

export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = kind.namespaced ? splitKey(key) : { namespace: undefined, name: key };
  // An empty name would be the path of the collection, and a delete would delete all objects.
  if (name === '') throw new InvalidNameError(`${kind.resource} of ${apiVersionOf(kind)}: a name is needed`);
  if (kind.namespaced && namespace === undefined) {
    throw new InvalidNameError(`${kind.resource} ${name}: a namespace is needed`);
  }
  const path = `${collectionPath(kind, namespace)}/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The namespace in a path. Empty if there is none. */
export function namespaceIn(path: string): string {
  const start = path.indexOf(namespaces);
  if (start === -1) return '';
  const name = start + namespaces.length;
  const end = path.slice(name).search(/[/?]/);
  return end === -1 ? path.slice(name) : path.slice(name, name + end);
}
const namespaces = '/namespaces/';

/** The parameters that are set, as `?a=1&b=2`. Empty if none is set. */
export function query(parameters: object): string {
  let text = '';
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === '' || value === false) continue;
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

function segment(name: string): string {
  // References in objects may hold any text. The server refuses these in names, so that no path is ambiguous.
  if (name === '.' || name === '..' || /[/%]/.test(name))
    throw new InvalidNameError(`${JSON.stringify(name)} cannot be a name`);
  return /^[\w.:-]+$/.test(name) ? name : encodeURIComponent(name);
}
