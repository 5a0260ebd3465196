import { flag } from './flag.ts';

export const debuggingFlags = {
  'contention-profiling': flag(
    'bool',
    '',
    'Generic.Debugging.enableContentionProfiling',
    'Profile lock contention (a Go runtime feature: no effect here)',
  ),
  profiling: flag(
    'bool',
    'true',
    'Generic.Debugging.enableProfiling',
    'Serve CPU profiles and heap snapshots below /debug/',
  ),
};

export const leaderMigrationFlags = {
  'enable-leader-migration': flag(
    'bool',
    '',
    'Generic.LeaderMigrationEnabled',
    'Hand controllers over to a cloud controller manager under a lock of their own (not available)',
  ),
  'leader-migration-config': flag(
    'string',
    '',
    'LeaderMigrationConfigFile',
    'Which controllers move under --enable-leader-migration',
  ),
};

const cloud = 'KubeCloudShared';
const election = 'Generic.LeaderElection';
const connection = 'Generic.ClientConnection';

export const genericFlags = {
  'allocate-node-cidrs': flag(
    'bool',
    '',
    `${cloud}.AllocateNodeCIDRs`,
    'Give each node a range of pod addresses out of --cluster-cidr',
  ),
  'cidr-allocator-type': flag(
    'string',
    'RangeAllocator',
    `${cloud}.CIDRAllocatorType`,
    'How ranges are given out; RangeAllocator is the only one',
  ),
  'cloud-config': flag(
    'string',
    '',
    `${cloud}.CloudProvider.CloudConfigFile`,
    'Configuration file of the cloud provider',
  ),
  'cloud-provider': flag('string', '', `${cloud}.CloudProvider.Name`, 'Empty, or "external"'),
  'cluster-cidr': flag('string', '', `${cloud}.ClusterCIDR`, 'Addresses of pods; used with --allocate-node-cidrs'),
  'cluster-name': flag('string', 'kubernetes', `${cloud}.ClusterName`, 'Prefix for what belongs to this cluster'),
  'configure-cloud-routes': flag(
    'bool',
    'true',
    `${cloud}.ConfigureCloudRoutes`,
    'Set routes for allocated ranges at the cloud provider',
  ),
  'controller-shutdown-timeout': flag(
    'duration',
    '10s',
    'ControllerShutdownTimeout',
    'How long controllers may take to finish what they are doing before the process exits; 0 is no limit',
  ),
  'controller-start-interval': flag(
    'duration',
    '0s',
    'Generic.ControllerStartInterval',
    'Each controller waits this long, up to doubled by chance, before it starts',
  ),
  controllers: flag(
    'strings',
    '*',
    'Generic.Controllers',
    "Controllers to run: '*' for all that are on by default, 'name' to add one, '-name' to leave one out",
  ),
  'emulated-version': flag('strings', '', 'EmulatedVersion', 'Behave as this version; only 1.36 can be had'),
  'external-cloud-volume-plugin': flag(
    'string',
    '',
    `${cloud}.ExternalCloudVolumePlugin`,
    'Volume plugin beside an external cloud provider',
  ),
  'feature-gates': flag(
    'colonSeparatedMultimapStringString',
    '',
    'FeatureGates',
    'Comma-separated Gate=true|false, optionally as kube:Gate=true|false. Gates other than GA:',
  ),
  'kube-api-burst': flag(
    'int32',
    '30',
    `${connection}.burst`,
    'Requests that a controller may send at once before --kube-api-qps holds it back; see --kube-api-qps',
  ),
  'kube-api-content-type': flag(
    'string',
    'application/vnd.kubernetes.protobuf',
    `${connection}.contentType`,
    'Encoding of requests (always application/json here)',
  ),
  'kube-api-qps': flag(
    'float32',
    '20',
    `${connection}.qps`,
    'Requests per second of each controller. Without it and --kube-api-burst the server sets the pace, see the manual',
  ),
  'leader-elect': flag('bool', 'true', `${election}.leaderElect`, 'Work only while holding the lease'),
  'leader-elect-lease-duration': flag(
    'duration',
    '15s',
    `${election}.leaseDuration`,
    'Others wait this long after the last renewal before they take the lease over',
  ),
  'leader-elect-renew-deadline': flag(
    'duration',
    '10s',
    `${election}.renewDeadline`,
    'A leader that could not renew for this long gives up; shorter than the lease duration',
  ),
  'leader-elect-resource-lock': flag('string', 'leases', `${election}.resourceLock`, 'Kind of the lock: leases'),
  'leader-elect-resource-name': flag(
    'string',
    'kube-controller-manager',
    `${election}.resourceName`,
    'Name of the lease',
  ),
  'leader-elect-resource-namespace': flag(
    'string',
    'kube-system',
    `${election}.resourceNamespace`,
    'Namespace of the lease',
  ),
  'leader-elect-retry-period': flag(
    'duration',
    '2s',
    `${election}.retryPeriod`,
    'Time between attempts to take or renew the lease',
  ),
  'min-compatibility-version': flag(
    'strings',
    '',
    'MinCompatibilityVersion',
    'Oldest version of other components to stay compatible with',
  ),
  'min-resync-period': flag(
    'duration',
    '12h0m0s',
    'Generic.MinResyncPeriod',
    'Caches are replayed to controllers after between once and twice this time',
  ),
  'node-monitor-period': flag(
    'duration',
    '5s',
    `${cloud}.NodeMonitorPeriod`,
    'How often node-lifecycle-controller looks at the state of nodes',
  ),
  'route-reconciliation-period': flag(
    'duration',
    '10s',
    `${cloud}.RouteReconciliationPeriod`,
    'How often routes at the cloud provider are compared',
  ),
  'use-service-account-credentials': flag(
    'bool',
    '',
    `${cloud}.UseServiceAccountCredentials`,
    'Each controller speaks to the server as its own service account',
  ),
};

export const miscFlags = {
  config: flag(
    'string',
    '',
    '',
    'YAML file with settings in the form of /configz; flags on the command line win over it',
  ),
  kubeconfig: flag(
    'string',
    '',
    `${connection}.kubeconfig`,
    'File with the address of the server and credentials for it; without it and --master, those of the pod it runs in',
  ),
  master: flag('string', '', 'Master', 'Address of the API server; wins over the kubeconfig'),
};

export const globalFlags = {
  version: flag(
    'version[=true]',
    'false',
    '',
    'Print the version and exit; =raw in full; =vX.Y.Z reports that version instead',
  ),
};
