import type { ControllerDescriptor } from '../pkg/controller/index.ts';
import { attachDetach } from './attachdetach/index.ts';
import { bootstrapSigner } from './bootstrapsigner/index.ts';
import { clusterRoleAggregation } from './clusterroleaggregation/index.ts';
import { clusterTrustBundlePublisher } from './clustertrustbundlepublisher/index.ts';
import { cronJob } from './cronjob/index.ts';
import { csrApproving } from './csrapproving/index.ts';
import { csrCleaner } from './csrcleaner/index.ts';
import { csrSigning } from './csrsigning/index.ts';
import { daemonSet } from './daemonset/index.ts';
import { deployment } from './deployment/index.ts';
import { deviceTaintEviction } from './devicetainteviction/index.ts';
import { disruption } from './disruption/index.ts';
import { garbageCollector } from './garbagecollector/index.ts';
import { job } from './job/index.ts';
import { endpoints } from './endpoints/index.ts';
import { endpointSlice } from './endpointslice/index.ts';
import { endpointSliceMirroring } from './endpointslicemirroring/index.ts';
import { ephemeralVolume } from './ephemeralvolume/index.ts';
import { legacyTokenCleaner } from './legacytokencleaner/index.ts';
import { namespace } from './namespace/index.ts';
import { nodeIpam } from './nodeipam/index.ts';
import { nodeLifecycle } from './nodelifecycle/index.ts';
import { podAutoscaler } from './podautoscaler/index.ts';
import { podCertificateRequestCleaner } from './podcertificaterequestcleaner/index.ts';
import { podGarbageCollector } from './podgc/index.ts';
import { podGroupProtection } from './podgroupprotection/index.ts';
import { persistentVolumeBinder } from './persistentvolumebinder/index.ts';
import { claimProtection } from './pvcprotection/index.ts';
import { volumeProtection } from './pvprotection/index.ts';
import { replicaSet, replicationController } from './replicaset/index.ts';
import { taintEviction } from './tainteviction/index.ts';
import { resourceClaim } from './resourceclaim/index.ts';
import { resourceQuota } from './resourcequota/index.ts';
import { resourcePoolStatusRequest } from './resourcepoolstatusrequest/index.ts';
import { rootCaPublisher } from './rootcapublisher/index.ts';
import { selinuxWarning } from './selinuxwarning/index.ts';
import { serviceAccount } from './serviceaccount/index.ts';
import { serviceAccountToken } from './serviceaccounttoken/index.ts';
import { statefulSet } from './statefulset/index.ts';
import { storageVersionCollector } from './storageversiongc/index.ts';
import { storageVersionMigrator } from './storageversionmigrator/index.ts';
import { tokenCleaner } from './tokencleaner/index.ts';
import { serviceCidr } from './servicecidr/index.ts';
import { nodeTtl } from './ttl/index.ts';
import { ttlAfterFinished } from './ttlafterfinished/index.ts';
import { policyStatus } from './validatingadmissionpolicystatus/index.ts';
import { attributesClassProtection } from './vacprotection/index.ts';
import { volumeExpander } from './volumeexpander/index.ts';

/** All controllers of the process. A new controller is a folder next to this file and a line in this list. */
export const controllers: readonly ControllerDescriptor[] = register([
  replicaSet,
  replicationController,
  deployment,
  statefulSet,
  daemonSet,
  job,
  cronJob,
  ttlAfterFinished,
  nodeLifecycle,
  nodeIpam,
  serviceCidr,
  taintEviction,
  podGarbageCollector,
  nodeTtl,
  namespace,
  serviceAccountToken,
  serviceAccount,
  rootCaPublisher,
  legacyTokenCleaner,
  garbageCollector,
  resourceQuota,
  clusterRoleAggregation,
  policyStatus,
  endpoints,
  endpointSlice,
  endpointSliceMirroring,
  disruption,
  persistentVolumeBinder,
  podAutoscaler,
  claimProtection,
  volumeProtection,
  attributesClassProtection,
  ephemeralVolume,
  attachDetach,
  resourceClaim,
  volumeExpander,
  deviceTaintEviction,
  resourcePoolStatusRequest,
  csrSigning,
  csrApproving,
  csrCleaner,
  podCertificateRequestCleaner,
  clusterTrustBundlePublisher,
  podGroupProtection,
  storageVersionCollector,
  storageVersionMigrator,
  bootstrapSigner,
  tokenCleaner,
  selinuxWarning,
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
    super(`"${id}" is used by both ${first} and ${second}`);
  }
}
