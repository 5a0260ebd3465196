import { apiVersionOf, resourceName, type Kind, type KubeObject } from '../api/index.ts';
import type { Discovery } from '../client/index.ts';

/** The server could not tell whether it serves a resource. */
class UnknownResourceError extends Error {
  override readonly name = 'UnknownResourceError';
  readonly reason = 'UnknownResource';
}

/**
 * The first of these kinds that the server serves: for beta and alpha APIs, which may be served in several versions or
 * not at all. Undefined if it serves none. Throws if the discovery of a version fails before a kind is found.
 */
export async function findServed<T extends KubeObject>(
  discovery: Pick<Discovery, 'all' | 'refresh'>,
  kinds: readonly Kind<T>[],
  signal: AbortSignal,
): Promise<Kind<T> | undefined> {
  await discovery.refresh(signal); // the cached result may be older than the API
  const { resources, failures } = await discovery.all(signal);
  for (const wanted of kinds) {
    const apiVersion = apiVersionOf(wanted);
    const isServed = resources.some(({ kind }) => {
      return apiVersionOf(kind) === apiVersion && kind.resource === wanted.resource;
    });
    if (isServed) return wanted;
    const failure = failures.get(apiVersion);
    if (failure !== undefined) {
      throw new UnknownResourceError(`discover ${resourceName(wanted)} in ${apiVersion}: ${failure}`);
    }
  }
  return undefined;
}
