import * as z from 'zod';

import { atLeast, flag, oneOf } from '../../../pkg/flags/index.ts';
import { inGroup } from './groups.ts';

/** Flags that the process itself reads, and those of Go's process that have no effect here. */
export const debuggingFlags = inGroup('Debugging', {
  'contention-profiling': flag('bool', {
    config: 'Generic.Debugging.enableContentionProfiling',
    help: 'Profile lock contention; a feature of the Go runtime',
    noEffect: true,
  }),
  'debug-heap-snapshots': flag('bool', {
    own: true,
    config: 'Generic.Debugging.enableHeapSnapshots',
    help: 'Serve heap snapshots, credentials and Secrets included, at /debug/pprof/heapsnapshot',
  }),
  profiling: flag('bool', {
    default: true,
    config: 'Generic.Debugging.enableProfiling',
    help: 'Serve CPU and heap profiles below /debug/',
  }),
});

export const leaderMigrationFlags = inGroup('Leader-migration', {
  'enable-leader-migration': flag('bool', {
    config: 'Generic.LeaderMigrationEnabled',
    help: 'Run controllers that migrate to another controller manager with a lease of their own',
  }),
  'leader-migration-config': flag('string', {
    config: 'LeaderMigrationConfigFile',
    help: 'File with the lease and the controllers of --enable-leader-migration: a LeaderMigrationConfiguration of controllermanager.config.k8s.io. Empty: the controllers of cloud providers',
  }),
});

const cloud = 'KubeCloudShared';
const election = 'Generic.LeaderElection';
const connection = 'Generic.ClientConnection';

const cloudFlags = {
  'cloud-config': flag('string', {
    config: `${cloud}.CloudProvider.CloudConfigFile`,
    help: 'Configuration file of the cloud provider',
    noEffect: true,
  }),
  'cloud-provider': flag('string', {
    config: `${cloud}.CloudProvider.Name`,
    help: 'Empty or "external": no cloud provider is part of this binary',
    check: oneOf('', 'external'),
    noEffect: true,
  }),
  'cluster-name': flag('string', {
    default: 'kubernetes',
    config: `${cloud}.ClusterName`,
    help: 'Prefix of the names of cloud resources',
    noEffect: true,
  }),
  'configure-cloud-routes': flag('bool', {
    default: true,
    config: `${cloud}.ConfigureCloudRoutes`,
    help: 'Configure routes at the cloud provider for the CIDRs of nodes',
    noEffect: true,
  }),
  'external-cloud-volume-plugin': flag('string', {
    config: `${cloud}.ExternalCloudVolumePlugin`,
    help: 'Volume plugin to use with an external cloud provider',
    noEffect: true,
  }),
  'route-reconciliation-period': flag('duration', {
    default: '10s',
    config: `${cloud}.RouteReconciliationPeriod`,
    help: 'How often the routes at the cloud provider are reconciled',
    noEffect: true,
  }),
};

const clientFlags = {
  'kube-api-burst': flag('int32', {
    default: 30,
    check: atLeast(0),
    config: `${connection}.burst`,
    help: 'Requests that each controller may send in a burst above --kube-api-qps',
  }),
  'kube-api-content-type': flag('string', {
    default: 'application/vnd.kubernetes.protobuf',
    config: `${connection}.contentType`,
    help: 'Content type of watches: anything but application/vnd.kubernetes.protobuf is application/json, like all other requests of this binary',
  }),
  'kube-api-qps': flag('float32', {
    default: 20,
    config: `${connection}.qps`,
    help: 'Requests per second of each controller. If neither this flag nor --kube-api-burst is set, only the priority and fairness of the API server limits requests',
  }),
  'use-service-account-credentials': flag('bool', {
    config: `${cloud}.UseServiceAccountCredentials`,
    help: 'Each controller uses its own service account',
  }),
};

const electionFlags = {
  'leader-elect': flag('bool', {
    default: true,
    config: `${election}.leaderElect`,
    help: 'Run controllers only while holding the lease',
  }),
  'leader-elect-lease-duration': flag('duration', {
    default: '15s',
    config: `${election}.leaseDuration`,
    help: 'Candidates wait this long after the last renewal they observed before they acquire the lease',
  }),
  'leader-elect-renew-deadline': flag('duration', {
    default: '10s',
    config: `${election}.renewDeadline`,
    help: 'A leader that could not renew the lease for this long stops leading; less than the lease duration',
  }),
  'leader-elect-resource-lock': flag('string', {
    default: 'leases',
    config: `${election}.resourceLock`,
    help: 'The kind of lock object; only "leases"',
  }),
  'leader-elect-resource-name': flag('string', {
    default: 'kube-controller-manager',
    config: `${election}.resourceName`,
    help: 'Name of the lease',
  }),
  'leader-elect-resource-namespace': flag('string', {
    default: 'kube-system',
    config: `${election}.resourceNamespace`,
    help: 'Namespace of the lease',
  }),
  'leader-elect-retry-period': flag('duration', {
    default: '2s',
    config: `${election}.retryPeriod`,
    help: 'Time between two attempts to acquire or renew the lease',
  }),
};

export const genericFlags = inGroup('Generic', {
  ...cloudFlags,
  ...clientFlags,
  ...electionFlags,
  'controller-shutdown-timeout': flag('duration', {
    default: '10s',
    config: 'ControllerShutdownTimeout',
    help: 'How long controllers may take to finish before the process exits; 0 for no limit',
  }),
  'controller-start-interval': flag('duration', {
    default: '0s',
    config: 'Generic.ControllerStartInterval',
    help: 'Each controller waits for this long, plus a random part of up to the same time, before it starts',
  }),
  controllers: flag('strings', {
    default: '*',
    config: 'Generic.Controllers',
    help: "Controllers to run: '*' for all that are on by default, 'name' to add one, '-name' to leave one out",
  }),
  'emulated-version': flag('strings', {
    config: 'EmulatedVersion',
    help: 'The version to emulate; only 1.36 is available',
    check: z.array(z.string().regex(/^(kube=)?v?1\.36$/, 'can only be 1.36')),
  }),
  'feature-gates': flag('colonSeparatedMultimapStringString', {
    config: 'FeatureGates',
    help: 'Comma-separated Gate=true|false, optionally as kube:Gate=true|false. Gates other than GA:',
  }),
  'min-compatibility-version': flag('strings', {
    config: 'MinCompatibilityVersion',
    help: 'Oldest version of other components to be compatible with',
    noEffect: true,
  }),
  'min-resync-period': flag('duration', {
    default: '12h0m0s',
    config: 'Generic.MinResyncPeriod',
    help: 'Informers resync after a random time between once and twice this period',
  }),
});

export const miscFlags = inGroup('Misc', {
  config: flag('string', {
    own: true,
    help: 'YAML file with settings in the form of /configz. A flag on the command line overrides the file',
  }),
  kubeconfig: flag('string', {
    config: `${connection}.kubeconfig`,
    help: 'File with the address of the API server and credentials. If neither this flag nor --master is set, the service account of the pod is used',
  }),
  master: flag('string', {
    config: 'Master',
    help: 'Address of the API server; overrides the kubeconfig',
  }),
});

export const globalFlags = inGroup('Global', {
  version: flag('version[=true]', {
    default: 'false',
    help: 'Print the version and exit; =raw prints all of it; =vX.Y.Z reports that version instead',
  }),
});
