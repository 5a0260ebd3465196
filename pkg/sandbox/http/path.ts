/** The resource that a path below `/api` or `/apis` addresses. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Undefined for a path that does not address a resource. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = decodeSegments(path);
  if (segments === undefined) return undefined;
  const [root, ...rest] = segments;
  if (root === 'api') return parseRest('', rest);
  if (root !== 'apis' || rest.length < 3) return undefined;
  const [group = '', ...below] = rest;
  return parseRest(group, below);
}

function parseRest(group: string, segments: readonly string[]): ResourcePath | undefined {
  const [version = '', first, second, third, ...more] = segments;
  if (first === undefined) return undefined;
  // `namespaces/x/pods` is in a namespace; `namespaces/x`, `namespaces/x/status` and the like are the namespace itself.
  const isInside = first === 'namespaces' && third !== undefined && !(group === '' && isNamespacePart(third, more));
  if (isInside) {
    const [name, subresource, ...tooMany] = more;
    if (tooMany.length > 0) return undefined;
    return { group, version, resource: third, namespace: second, name, subresource };
  }
  if (more.length > 0) return undefined;
  return { group, version, resource: first, namespace: undefined, name: second, subresource: third };
}

function isNamespacePart(segment: string, more: readonly string[]): boolean {
  return (segment === 'status' || segment === 'finalize') && more.length === 0;
}

/** Undefined when a segment is empty or cannot be decoded. */
function decodeSegments(path: string): string[] | undefined {
  try {
    const segments = path.replace(/\/$/, '').slice(1).split('/').map(decodeURIComponent);
    return segments.some((segment) => segment === '') ? undefined : segments;
  } catch {
    return undefined;
  }
}
