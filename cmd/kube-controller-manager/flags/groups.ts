import type { Flag, FlagTable } from '../../../pkg/flags/index.ts';

/** The sections of `--help`, in the order of the Go binary. The section of a controller is named after it. */
const groupOrder = [
  'Debugging',
  'Leader-migration',
  'Generic',
  'Service-lb-controller',
  'Secure serving',
  'Authentication',
  'Authorization',
  'Persistentvolume-attach-detach-controller',
  'Certificatesigningrequest-signing-controller',
  'Deployment-controller',
  'Device-taint-eviction-controller',
  'Resourceclaim-controller',
  'Statefulset-controller',
  'Daemonset-controller',
  'Endpoints-controller',
  'Endpointslice-controller',
  'Endpointslice-mirroring-controller',
  'Ephemeral-volume-controller',
  'Garbage-collector-controller',
  'Horizontal-pod-autoscaler-controller',
  'Job-controller',
  'Cronjob-controller',
  'Legacy-serviceaccount-token-cleaner-controller',
  'Namespace-controller',
  'Node-ipam-controller',
  'Node-lifecycle-controller',
  'Persistentvolume-binder-controller',
  'Pod-garbage-collector-controller',
  'Replicaset-controller',
  'Replicationcontroller-controller',
  'Resourcequota-controller',
  'Serviceaccount-controller',
  'Ttl-after-finished-controller',
  'Validatingadmissionpolicy-status-controller',
];

/** These sections follow those of all controllers, also of controllers that the Go binary does not have. */
const lastGroups = ['Metrics', 'Logs', 'Misc', 'Global'];

/** Puts the flags of the process into a section. */
export function inGroup<Table extends FlagTable>(group: string, table: Table): Table {
  const entries = Object.entries(table).map(([name, flag]): [string, Flag] => [name, { ...flag, group }]);
  return Object.fromEntries(entries) as Table; // the same flags, each with its section
}

export function groupOfController(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Compares two sections by their place in `--help`. */
export function compareGroups(a: string, b: string): number {
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function rank(group: string): number {
  if (lastGroups.includes(group)) return groupOrder.length + 1 + lastGroups.indexOf(group);
  return groupOrder.includes(group) ? groupOrder.indexOf(group) : groupOrder.length;
}
