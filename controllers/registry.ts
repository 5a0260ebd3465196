import type { ControllerDescriptor } from '../pkg/controller/index.ts';
import { clusterRoleAggregation } from './clusterroleaggregation/index.ts';
import { cronJob } from './cronjob/index.ts';
import { deployment } from './deployment/index.ts';
import { garbageCollector } from './garbagecollector/index.ts';
import { job } from './job/index.ts';
import { endpoints } from './endpoints/index.ts';
import { endpointSlice } from './endpointslice/index.ts';
import { endpointSliceMirroring } from './endpointslicemirroring/index.ts';
import { legacyTokenCleaner } from './legacytokencleaner/index.ts';
import { namespace } from './namespace/index.ts';
import { nodeLifecycle } from './nodelifecycle/index.ts';
import { podGarbageCollector } from './podgc/index.ts';
import { replicaSet, replicationController } from './replicaset/index.ts';
import { taintEviction } from './tainteviction/index.ts';
import { rootCaPublisher } from './rootcapublisher/index.ts';
import { serviceAccount } from './serviceaccount/index.ts';
import { serviceAccountToken } from './serviceaccounttoken/index.ts';
import { nodeTtl } from './ttl/index.ts';
import { ttlAfterFinished } from './ttlafterfinished/index.ts';

/** All controllers of the process. A new controller is a folder next to this file and a line in this list. */
export const controllers: readonly ControllerDescriptor[] = register([
  replicaSet,
  replicationController,
  deployment,
  job,
  cronJob,
  ttlAfterFinished,
  nodeLifecycle,
  taintEviction,
  podGarbageCollector,
  nodeTtl,
  namespace,
  serviceAccountToken,
  serviceAccount,
  rootCaPublisher,
  legacyTokenCleaner,
  garbageCollector,
  clusterRoleAggregation,
  endpoints,
  endpointSlice,
  endpointSliceMirroring,
]);

/** Rejects a list in which two controllers share a name or alias. */
export function register(descriptors: readonly ControllerDescriptor[]): readonly ControllerDescriptor[] {
  const owners = new Map<string, string>();
  for (const { name, aliases } of descriptors) {
    for (const id of [name, ...aliases]) {
      const owner = owners.get(id);
      if (owner !== undefined) throw new DuplicateControllerError(id, owner, name);
      owners.set(id, name);
    }
  }
  return descriptors;
}

export class DuplicateControllerError extends Error {
  override readonly name = 'DuplicateControllerError';
  readonly reason = 'DuplicateController';

  constructor(id: string, first: string, second: string) {
    super(`"${id}" stands for both ${first} and ${second}`);
  }
}
