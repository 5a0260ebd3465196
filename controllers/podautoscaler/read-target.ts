import { InvalidSelectorError, objectKey, type Kind, type Scale } from '../../pkg/api/index.ts';
import { ApiError, goMessage, serverMessage, type Client } from '../../pkg/client/index.ts';
import type { TargetReading } from './plan.ts';
import type { Autoscaler } from './settings.ts';
import { normalizeSelector } from './scale-selector.ts';
import type { ServedKinds } from './served-kinds.ts';

export interface TargetDeps {
  readonly client: Pick<Client, 'getScale'>;
  readonly kinds: ServedKinds;
}

/** Reads the scale of an autoscaler's target: of any kind that has a scale, in the version that the server prefers. */
export async function readTarget(
  { metadata, spec }: Autoscaler,
  { client, kinds }: TargetDeps,
  signal: AbortSignal,
): Promise<TargetReading> {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef;
  const segments = apiVersion.split('/');
  if (segments.length > 2) {
    const message = `unexpected GroupVersion string: ${apiVersion}`;
    return {
      kind: 'failed',
      message,
      error: `invalid API version in scale target reference: ${message}`,
      isSpec: true,
    };
  }
  const group = segments.length === 2 ? (segments[0] ?? '') : '';
  let found: readonly Kind[];
  try {
    found = await kinds.find(group, kind, signal);
  } catch (error) {
    signal.throwIfAborted();
    return unresolved(serverMessage(error));
  }
  if (found.length === 0) return unresolved(noMatches(group, kind));
  let failure: string | undefined;
  for (const resource of found) {
    try {
      requireNamespaced(resource, name);
      const key = objectKey(metadata.namespace, name);
      return { kind: 'found', resource, scale: withSelector(await client.getScale(resource, key, signal)) };
    } catch (error) {
      signal.throwIfAborted();
      failure ??= messageOf(error, `get ${resource.resource} ${name}`);
    }
  }
  kinds.suspect(); // the version may not be served any more
  const message = failure ?? 'unrecognized resource';
  const reference = `${kind}/${metadata.namespace}/${name}`;
  return {
    kind: 'failed',
    message,
    error: `failed to query scale subresource for ${reference}: ${message}`,
    isSpec: false,
  };
}

/**
 * An autoscaler acts with the rights of this controller, which may scale everything. It must not reach beyond its own
 * namespace. Go asks for a cluster-scoped object in that namespace, and the server does not find the path.
 */
function requireNamespaced({ namespaced, resource }: Kind, name: string): void {
  if (namespaced) return;
  const text = '404 page not found';
  throw new ApiError(`get scale of ${resource} ${name}`, { code: 404, message: text }, { plainText: text });
}

function withSelector(scale: Scale): Scale {
  const { status } = scale;
  return status?.selector === undefined
    ? scale
    : { ...scale, status: { ...status, selector: normalizeSelector(status.selector) } };
}

function messageOf(error: unknown, request: string): string {
  if (!(error instanceof InvalidSelectorError)) return goMessage(error, request);
  return `received an object from a /scale endpoint which was not convertible to autoscaling Scale: ${error.message}`;
}

export function noMatches(group: string, kind: string): string {
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`;
}

function unresolved(message: string): TargetReading {
  const error = `unable to determine resource for scale target reference: ${message}`;
  return { kind: 'failed', message, error, isSpec: false };
}
