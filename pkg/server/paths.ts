import { ServingError } from './options.ts';

/** The target of a request. */
export interface Target {
  /** Decoded. The same form is authorized and routed, so that no encoding can circumvent authorization. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Parses the target of the request line. Undefined if it is malformed. Keeps dots and double slashes. */
export function parseTarget(target: string): Target | undefined {
  const relative = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = relative.indexOf('?');
  const rawPath = mark < 0 ? relative : relative.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : relative.slice(mark + 1));
  if (rawPath === '' && relative !== target) return { path: '/', query };
  if (!rawPath.startsWith('/')) return undefined;
  try {
    return { path: decodeURIComponent(rawPath), query };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Matches the always-allowed paths: exactly, or by prefix if the pattern ends in `*`. */
export function compileOpenPaths(patterns: readonly string[]): (path: string) => boolean {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const pattern of patterns) {
    const bare = withoutLeadingSlash(pattern);
    if (bare.slice(0, -1).includes('*')) {
      throw new ServingError('--authorization-always-allow-paths', `only a trailing * is allowed in "${pattern}"`);
    }
    if (bare.endsWith('*')) prefixes.push(bare.slice(0, -1));
    else exact.add(bare);
  }
  return (path) => {
    const bare = withoutLeadingSlash(path);
    return exact.has(bare) || prefixes.some((prefix) => bare.startsWith(prefix));
  };
}

function withoutLeadingSlash(path: string): string {
  return path.startsWith('/') ? path.slice(1) : path;
}
