import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The properties of `Object.prototype` that are legal label names. */
export const prototypeNames = ['constructor', 'toString', 'valueOf', 'hasOwnProperty'];

export const int32s = [0, 1, 2, 3, 5, 100, -1, 2147483647, -2147483648];
export const int64s = [0, 30, -1, 9007199254740993n, 9223372036854775807n, -9223372036854775808n, 4294967296];
export const quantities = ['0', '1', '-1', '100m', '1e18', '9223372036854775807', '8Ei', '0.000000001', '1Gi', 5];

export function times(nowMs: number): (string | null)[] {
  const at = (offsetMs: number): string => `${new Date(nowMs + offsetMs).toISOString().slice(0, 19)}Z`;
  const years = ['0001-01-01T00:00:00Z', '0001-01-01T00:00:01Z', '9999-12-31T23:59:59Z', '1969-12-31T23:59:59Z'];
  return [...years, null, null, at(0), at(-1000), at(-3_600_000), at(3_600_000)];
}

const unicode = ['ü', '雪', '🎈', 'e\u{301}', '\u{202e}', '\u{feff}', '"\\\n\t\u{1}'];
const long = ['x'.repeat(63), 'x'.repeat(253), 'y'.repeat(5000)];
export const texts = ['', 'a', 'http', ...prototypeNames, '__proto__', ...unicode, ...long, '/', '..', '100%', 'NaN'];
/** Values of controllers' annotations: counters, times, switches, and invalid ones. */
const annotationTexts = [
  '',
  '0',
  '1',
  '-1',
  '007',
  ' 1',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '1.5',
  '9223372036854775807',
  '4611686018427387905',
  '99999999999999999999',
  '2147483648',
  'Auto',
  'true',
  'false',
  'null',
  '{}',
  '[]',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2024-01-01T00:00:00.123456789Z',
  '2024-13-01',
  '2020-01-01',
  '{"apiVersion":"v1"}',
  'default',
  ...unicode,
  ...long,
];
const labelTexts = ['', 'x', 'one', 'two', ...prototypeNames, '1', 'true', 'x'.repeat(63), 'A.b_c-9'];
const labelKeys = ['app', 'tier', ...prototypeNames, 'example.com/constructor', `${'a'.repeat(253)}/${'b'.repeat(63)}`];
const addresses = ['', '10.0.0.1', '10.0.0.2', '192.0.2.7', 'fd00::1', '2001:db8::0:1', '255.255.255.255', '1.2.3.4'];
const conditionTypes = [
  'Ready',
  'Available',
  'Progressing',
  'ReplicaFailure',
  'Complete',
  'Failed',
  'Suspended',
  'FailureTarget',
  'SuccessCriteriaMet',
  'DisruptionTarget',
  'PodScheduled',
  'ContainersReady',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
  'constructor',
  '',
];
const schedules = [
  '* * * * *',
  '0 0 31 2 *',
  '0 0 29 2 *',
  '@every 1s',
  '@every 1h',
  '@yearly',
  '59 23 31 12 *',
  '*/7 * * * 0',
  '0 0 1 1 7',
  '0-59/1 0,1,2 ? * MON-FRI',
  'TZ=Asia/Kathmandu * * * * *',
  '@reboot',
  '0 2 30 2 *',
];
const zones = ['', 'Etc/UTC', 'Europe/Berlin', 'Pacific/Apia', 'Asia/Kathmandu', 'Local', 'Africa/Monrovia', 'Nowhere'];
const indexLists = ['', '0', '0-2147483647', '1,3-5', ',', '5-1', 'x', '0,0,0', '99999999999999999999', '1-'];
const reasons = [...texts, 'ContainerStatusUnknown', 'OOMKilled', 'Evicted', 'NodeLost', 'NewReplicaSetAvailable'];

interface Names {
  readonly nodes: readonly string[];
  readonly knownKeys: readonly string[];
}

/** Text by the name of its field: the first matching pattern wins. */
const byName: readonly (readonly [RegExp, (around: Names) => readonly string[]])[] = [
  [/^annotations$/, () => annotationTexts],
  [/labels$|selector$|^nodeSelector$/i, () => labelTexts],
  [/^finalizers$/, ({ knownKeys }) => ['hostile.example.com/nobody', 'orphan', 'foregroundDeletion', ...knownKeys]],
  [/^topologyKey$|^key$/, ({ knownKeys }) => [...labelKeys, ...knownKeys]],
  [/^values$/, () => labelTexts],
  [/nodeName$/i, ({ nodes }) => ['', 'nowhere', 'constructor', ...nodes]],
  [/ips?$|address(es)?$/i, () => addresses],
  [/cidrs?$|ranges$/i, () => ['10.0.0.0/8', '192.0.2.0/24', 'fd00::/64', '0.0.0.0/0', '']],
  [/^schedule$/, () => schedules],
  [/^timeZone$/, () => zones],
  [/indexes$/i, () => indexLists],
  [/^type$/, () => conditionTypes],
  [/^status$/, () => ['True', 'False', 'Unknown', '']],
  [/^phase$/, () => ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', 'Active', 'Terminating', 'Bound', '']],
  [/^reason$|^message$/, () => reasons],
  [/serviceAccount/i, () => ['default', 'constructor', '']],
  [/protocol$/i, () => ['TCP', 'UDP', 'SCTP', '']],
  [/^(?:zone|hints)$/i, () => ['', 'a', 'constructor', 'x'.repeat(63)]],
  [/uids?$/i, () => ['00000000-0000-0000-0000-000000000000', 'constructor', 'ü']],
  [/^image(?:ID)?$/, () => ['i', 'ü', 'x'.repeat(253)]],
];

export function textFor(name: string, around: Names): readonly string[] {
  return byName.find(([pattern]) => pattern.test(name))?.[1](around) ?? texts;
}

export function plainText(name: string): string {
  if (/ips?$|address(es)?$/i.test(name)) return '10.0.0.1';
  if (/cidr|range/i.test(name)) return '10.0.0.0/8';
  return /apiGroup|domain|driver|provisioner|controller|attacher/i.test(name) ? 'example.com/x' : 'x';
}

/** Keys of a map, by the name of its field. */
export function keysFor(name: string, knownKeys: readonly string[]): readonly string[] {
  if (/^(?:limits|requests|capacity|allocatable|hard|used|overhead|allocatedResources)/.test(name)) {
    return ['cpu', 'memory', 'pods', 'ephemeral-storage', 'storage', 'hugepages-2Mi', 'example.com/constructor', ''];
  }
  if (/data$/i.test(name)) return ['__proto__', ...prototypeNames, '.', '..', 'token', 'ca.crt', 'x'.repeat(253)];
  return [...labelKeys, ...knownKeys];
}

const repository = join(import.meta.dirname, '../../..');
const knownKey = /'((?:[a-z0-9.-]+\.)?kubernetes\.io\/[A-Za-z0-9._-]+)'/g;

/**
 * The names with `kubernetes.io/` in the source of the controllers: a new one is covered as soon as the code reads it.
 */
export function readKnownKeys(): readonly string[] {
  const found = new Set<string>();
  for (const folder of ['controllers', 'pkg/api', 'pkg/controller', 'pkg/endpoints']) {
    const files = readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort()) {
      for (const [, key = ''] of readFileSync(join(repository, folder, file), 'utf8').matchAll(knownKey))
        found.add(key);
    }
  }
  return [...found].sort();
}
