import * as z from 'zod';

import {
  apiVersionOf,
  objectKey,
  resourceName,
  type Cached,
  type Kind,
  type OwnerReference,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client, type Discovery } from '../../pkg/client/index.ts';
import { asError, preferredKinds } from '../../pkg/controller/index.ts';
import type { ControllerScale } from './expectation.ts';

export interface LiveScalesDeps {
  readonly client: Pick<Client, 'getScale' | 'request'>;
  readonly discovery: Discovery;
}

/** The controller of a pod has no scale, so a budget cannot depend on its replicas. */
class NoScaleError extends Error {
  override readonly name = 'NoScaleError';
  readonly reason = 'NoScale';
}

/** The API server of the controller does not respond, so it is not known whether there is a scale. */
class UndiscoveredError extends Error {
  override readonly name = 'UndiscoveredError';
  readonly reason = 'Undiscovered';
}

/** Reads the scale subresource of any served kind. An error is a result: the budget's status shows it. */
export type ScaleReader = (
  reference: Cached<OwnerReference>,
  namespace: string | undefined,
  signal: AbortSignal,
) => Promise<ControllerScale>;

/** The reader of one sync. It asks once for each kind whether it has a scale. */
export function createScaleReader(deps: LiveScalesDeps): ScaleReader {
  const asked = new Map<string, Promise<boolean>>();
  const hasScale = (kind: Kind, signal: AbortSignal): Promise<boolean> => {
    const id = `${apiVersionOf(kind)}/${kind.resource}`;
    const answer = asked.get(id) ?? readHasScale(kind, deps.client, signal);
    asked.set(id, answer);
    return answer;
  };
  return async (reference, namespace, signal) => {
    try {
      return await lookUp(reference, namespace, { ...deps, hasScale }, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'failed', error: asError(error), isLasting: error instanceof NoScaleError };
    }
  };
}

interface LookUpDeps extends LiveScalesDeps {
  hasScale(kind: Kind, signal: AbortSignal): Promise<boolean>;
}

async function lookUp(
  { apiVersion, kind: kindName, name, uid }: Cached<OwnerReference>,
  namespace: string | undefined,
  { client, discovery, hasScale }: LookUpDeps,
  signal: AbortSignal,
): Promise<ControllerScale> {
  const kind = await discovery.kindFor(apiVersion, kindName, signal);
  if (kind === undefined) {
    const what = `no matches for kind ${JSON.stringify(kindName)} in version ${JSON.stringify(apiVersion)}`;
    const failure = (await discovery.all(signal)).failures.get(apiVersion);
    throw failure === undefined ? new NoScaleError(what) : new UndiscoveredError(`${what}: ${failure}`);
  }
  const isSame = ({ group, resource }: Kind): boolean => group === kind.group && resource === kind.resource;
  const [preferred = kind] = await preferredKinds(discovery, isSame, signal);
  try {
    const key = objectKey(preferred.namespaced ? namespace : undefined, name);
    const { metadata, spec } = await client.getScale(preferred, key, signal);
    return metadata?.uid === uid ? { kind: 'found', uid, replicas: spec?.replicas ?? 0 } : { kind: 'absent' };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Either the object is deleted, or its kind has no scale. Only discovery can tell.
    if (await hasScale(kind, signal)) return { kind: 'absent' };
    throw new NoScaleError(`${resourceName(kind)} does not implement the scale subresource`);
  }
}

const resourceListSchema = z.object({
  resources: z
    .array(
      z.object({
        name: z.string(),
        group: z.string().optional(),
        version: z.string().optional(),
        kind: z.string(),
      }),
    )
    .nullish(),
});

const scaleVersions: ReadonlySet<string> = new Set([
  'autoscaling/v1',
  'extensions/v1beta1',
  'apps/v1beta1',
  'apps/v1beta2',
]);

async function readHasScale(kind: Kind, client: Pick<Client, 'request'>, signal: AbortSignal): Promise<boolean> {
  const path = `/${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`;
  const { resources } = resourceListSchema.parse(await client.request({ method: 'GET', path }, signal));
  return (resources ?? []).some(
    ({ name, group = '', version = '', kind: listed }) =>
      name === `${kind.resource}/scale` && listed === 'Scale' && scaleVersions.has(apiVersionOf({ group, version })),
  );
}
