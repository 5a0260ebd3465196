import { ServingError } from './options.ts';

/** What a request asks for. */
export interface Target {
  /** Decoded. The one form that is both authorized and looked up, so that no spelling can slip between the two. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Reads the first line's target; undefined when it is malformed. Dots and double slashes stay as they are. */
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

/** Matches paths that need no permission: exact, or by prefix when the pattern ends in `*`. */
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
