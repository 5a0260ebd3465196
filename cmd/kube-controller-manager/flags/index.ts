import type { Flag, FlagTable, ValuesOf } from './flag.ts';
import * as cluster from './cluster-controllers.ts';
import { debuggingFlags, genericFlags, globalFlags, leaderMigrationFlags, miscFlags } from './generic.ts';
import { logsFlags, metricsFlags } from './observability.ts';
import { authenticationFlags, authorizationFlags, servingFlags } from './serving.ts';
import * as workload from './workload-controllers.ts';

export {
  FlagError,
  formatValue,
  initialValue,
  isBoolean,
  isRepeatable,
  parseFlag,
  type Flag,
  type FlagTable,
  type FlagType,
} from './flag.ts';

/** The sections of `--help`, in the Go binary's order. */
export const flagGroups: Readonly<Record<string, FlagTable>> = {
  Debugging: debuggingFlags,
  'Leader-migration': leaderMigrationFlags,
  Generic: genericFlags,
  'Service-lb-controller': cluster.serviceLbFlags,
  'Secure serving': servingFlags,
  Authentication: authenticationFlags,
  Authorization: authorizationFlags,
  'Persistentvolume-attach-detach-controller': cluster.persistentvolumeAttachDetachFlags,
  'Certificatesigningrequest-signing-controller': cluster.certificateSigningFlags,
  'Deployment-controller': workload.deploymentFlags,
  'Device-taint-eviction-controller': cluster.deviceTaintEvictionFlags,
  'Resourceclaim-controller': cluster.resourceClaimFlags,
  'Statefulset-controller': workload.statefulSetFlags,
  'Daemonset-controller': workload.daemonSetFlags,
  'Endpoints-controller': workload.endpointsFlags,
  'Endpointslice-controller': workload.endpointSliceFlags,
  'Endpointslice-mirroring-controller': workload.endpointSliceMirroringFlags,
  'Ephemeral-volume-controller': cluster.ephemeralVolumeFlags,
  'Garbage-collector-controller': cluster.garbageCollectorFlags,
  'Horizontal-pod-autoscaler-controller': workload.horizontalPodAutoscalerFlags,
  'Job-controller': workload.jobFlags,
  'Cronjob-controller': workload.cronJobFlags,
  'Legacy-serviceaccount-token-cleaner-controller': cluster.legacyServiceAccountTokenCleanerFlags,
  'Namespace-controller': cluster.namespaceFlags,
  'Node-ipam-controller': cluster.nodeIpamFlags,
  'Node-lifecycle-controller': cluster.nodeLifecycleFlags,
  'Persistentvolume-binder-controller': cluster.persistentVolumeBinderFlags,
  'Pod-garbage-collector-controller': cluster.podGarbageCollectorFlags,
  'Replicaset-controller': workload.replicaSetFlags,
  'Replicationcontroller-controller': workload.replicationControllerFlags,
  'Resourcequota-controller': cluster.resourceQuotaFlags,
  'Serviceaccount-controller': cluster.serviceAccountFlags,
  'Ttl-after-finished-controller': workload.ttlAfterFinishedFlags,
  'Validatingadmissionpolicy-status-controller': cluster.validatingAdmissionPolicyStatusFlags,
  Metrics: metricsFlags,
  Logs: logsFlags,
  Misc: miscFlags,
  Global: globalFlags,
};

/** What the process itself reads. Flags of controllers are read by those whom their descriptors name. */
const processFlags = {
  ...debuggingFlags,
  ...leaderMigrationFlags,
  ...genericFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...metricsFlags,
  ...logsFlags,
  ...miscFlags,
};

export type ProcessOptions = ValuesOf<typeof processFlags>;

export const processFlagNames: ReadonlySet<string> = new Set(Object.keys(processFlags));

/** Every flag by name. */
export const allFlags: ReadonlyMap<string, Flag> = new Map(Object.values(flagGroups).flatMap((t) => Object.entries(t)));
