import { controllerOf, type UntypedObject } from '../../pkg/api/index.ts';

/** Replaces names, uids, addresses and times in a text by symbols that are the same in every run. */
export interface Symbols {
  /** `web-{hash:1}-{random}` for the pod `web-5d8f7b6c9-x7k2p`. */
  nameOf(object: UntypedObject): string;
  text(text: string): string;
}

/** One object of a dump, with its kind, which lists omit. */
export interface DumpedObject {
  readonly kind: string;
  readonly object: UntypedObject;
}

const revisionAnnotation = 'deployment.kubernetes.io/revision';
/** A later step must not treat a symbol as a name. */
const [open, close] = ['\u{E000}', '\u{E001}'];
const marked = new RegExp(`(${open}[^${close}]*${close})`);
const marks = new RegExp(`[${open}${close}]`, 'g');

export function createSymbols(namespace: string, objects: readonly DumpedObject[]): Symbols {
  const names = symbolicNames(objects);
  const exact = new Map<string, string>();
  for (const { kind, object } of objects) {
    const symbol = names.get(object) ?? object.metadata.name;
    exact.set(object.metadata.name, symbol); // also if they are equal: no pattern below may match it then
    exact.set(object.metadata.uid, `{uid of ${kind} ${symbol}}`);
    for (const ip of addressesOf(object)) exact.set(ip, `{ip of ${kind} ${symbol}}`);
  }
  // The scheduler chooses nodes, and admission copies the zone of a node to its pods.
  for (const { kind, object } of objects) {
    const nodeName = fieldsOf(object['spec'])['nodeName'];
    if (typeof nodeName === 'string' && nodeName !== '') exact.set(nodeName, '{node}');
    const zone = object.metadata.labels?.['topology.kubernetes.io/zone'];
    if (kind === 'Pod' && zone !== undefined) exact.set(zone, '{zone}');
  }
  const hashes = hashesOf(objects, names);
  for (const [hash, symbol] of hashes) exact.set(hash, symbol);
  exact.set(namespace, '{namespace}');

  const replaceExact = replacerOf(exact);
  const patterns = patternsOf(objects, names);
  const known = new Map<string, string>(); // these few words occur in every object
  return {
    nameOf: (object) => names.get(object) ?? object.metadata.name,
    text(text) {
      let result = known.get(text);
      if (result === undefined) {
        result = patterns.reduce(outsideMarks, replaceExact(text)).replaceAll(marks, '');
        known.set(text, result);
      }
      return result;
    },
  };
}

/** Names without their random parts. Owners first, because the names of their dependents start with theirs. */
function symbolicNames(objects: readonly DumpedObject[]): ReadonlyMap<UntypedObject, string> {
  const byUid = new Map(objects.map((dumped) => [dumped.object.metadata.uid, dumped]));
  const names = new Map<UntypedObject, string>();
  const nameOf = ({ kind, object }: DumpedObject): string => {
    const known = names.get(object);
    if (known !== undefined) return known;
    const owner = byUid.get(controllerOf(object)?.uid ?? '');
    const symbol = symbolicName(
      kind,
      object,
      owner && { kind: owner.kind, name: owner.object.metadata.name, symbol: nameOf(owner) },
    );
    names.set(object, symbol);
    return symbol;
  };
  for (const dumped of objects) nameOf(dumped);
  return numbered(objects, names);
}

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly symbol: string;
}

function symbolicName(kind: string, object: UntypedObject, owner: Owner | undefined): string {
  const { name, generateName = '' } = object.metadata;
  if (owner !== undefined && name.startsWith(`${owner.name}-`)) {
    const rest = name.slice(owner.name.length + 1);
    if (owner.kind === 'Deployment' && kind === 'ReplicaSet') return `${owner.symbol}-{hash}`;
    if (owner.kind === 'Job' && (kind === 'Workload' || kind === 'PodGroup')) return `${owner.symbol}-{hash}`;
    if (kind === 'ControllerRevision') return `${owner.symbol}-{hash}`;
    if (owner.kind === 'CronJob' && /^\d{6,}$/.test(rest)) return `${owner.symbol}-{minute}`;
    if (generateName !== '') return `${owner.symbol}-${randomised(rest, generateName.slice(owner.name.length + 1))}`;
    return `${owner.symbol}-${rest}`;
  }
  return generateName !== '' && name.startsWith(generateName) ? randomised(name, generateName) : name;
}

function randomised(name: string, prefix: string): string {
  return name.startsWith(prefix) ? `${prefix}{random}` : name;
}

/**
 * Numbers the ReplicaSets of a Deployment, the revisions of a DaemonSet and the Jobs of a CronJob by their order. Each kind
 * is numbered by itself: two objects of different kinds may be created in the same second, where only hashes order them.
 */
function numbered(
  objects: readonly DumpedObject[],
  names: ReadonlyMap<UntypedObject, string>,
): ReadonlyMap<UntypedObject, string> {
  const groups = Map.groupBy(
    objects.filter(({ object }) => /\{(?:hash|minute)\}$/.test(names.get(object) ?? '')),
    ({ kind, object }) => `${kind} ${names.get(object) ?? ''}`,
  );
  const byUid = new Map<string, string>();
  const result = new Map(names);
  for (const members of groups.values()) {
    const byOrder = members.map(({ object }) => object).sort(byAge);
    for (const [index, member] of byOrder.entries()) {
      const own = (names.get(member) ?? '').replace(/\}$/, `:${index + 1}}`);
      byUid.set(member.metadata.uid, own);
      result.set(member, own);
    }
  }
  for (const { object } of objects) {
    const owner = byUid.get(controllerOf(object)?.uid ?? '');
    const prefix = owner?.replace(/:\d+\}$/, '}');
    const name = result.get(object) ?? '';
    if (owner !== undefined && prefix !== undefined && name.startsWith(`${prefix}-`)) {
      result.set(object, owner + name.slice(prefix.length));
    }
  }
  return result;
}

function byAge(a: UntypedObject, b: UntypedObject): number {
  const revision = ({ metadata, revision: own }: UntypedObject): number =>
    Number(own ?? metadata.annotations?.[revisionAnnotation] ?? 0);
  const minute = ({ metadata }: UntypedObject): number => Number(/-(\d{6,})$/.exec(metadata.name)?.[1] ?? 0);
  return (
    revision(a) - revision(b) ||
    minute(a) - minute(b) ||
    Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

/** The hash of each ReplicaSet and revision occurs alone in labels and selectors. */
function hashesOf(
  objects: readonly DumpedObject[],
  names: ReadonlyMap<UntypedObject, string>,
): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const { kind, object } of objects) {
    const label = kind === 'ReplicaSet' ? 'pod-template-hash' : 'controller-revision-hash';
    const hash = kind === 'ReplicaSet' || kind === 'ControllerRevision' ? object.metadata.labels?.[label] : undefined;
    if (hash !== undefined) hashes.set(hash, `{hash of ${names.get(object) ?? ''}}`);
  }
  return hashes;
}

function addressesOf(object: UntypedObject): string[] {
  const { podIPs } = fieldsOf(object['status']);
  const { clusterIPs } = fieldsOf(object['spec']);
  const pods = Array.isArray(podIPs) ? podIPs.map((entry) => fieldsOf(entry)['ip']) : [];
  const services = Array.isArray(clusterIPs) ? clusterIPs : [];
  return [...pods, ...services].filter((ip) => typeof ip === 'string' && ip !== '' && ip !== 'None').map(String);
}

type Pattern = readonly [RegExp, string];

/** Names of deleted objects in events, and other values that differ in every run. */
function patternsOf(objects: readonly DumpedObject[], names: ReadonlyMap<UntypedObject, string>): Pattern[] {
  // Pods of a ReplicaSet also start with the name of the Deployment: the longer name is the right one.
  const byLength = objects.toSorted((a, b) => b.object.metadata.name.length - a.object.metadata.name.length);
  const children = byLength.flatMap(({ kind, object }): Pattern[] => {
    const name = RegExp.escape(object.metadata.name);
    const symbol = names.get(object) ?? '';
    switch (kind) {
      case 'Deployment':
        return [
          [new RegExp(`\\b${name}-[a-z0-9]{5,12}-[a-z0-9]{5}\\b`, 'g'), `${symbol}-{hash}-{random}`],
          [new RegExp(`\\b${name}-[a-z0-9]{5,12}\\b`, 'g'), `${symbol}-{hash}`],
        ];
      case 'CronJob':
        return [[new RegExp(`\\b${name}-\\d{6,}\\b`, 'g'), `${symbol}-{minute}`]];
      case 'DaemonSet':
      case 'Job':
      case 'ReplicaSet':
      case 'ReplicationController':
        return [[new RegExp(`\\b${name}-(\\d+-)?[a-z0-9]{5}\\b`, 'g'), `${symbol}-$1{random}`]];
      default:
        return [];
    }
  });
  return [
    ...children,
    [/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-{random}'],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '{uid}'],
    [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '{time}'],
    [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '{ip}'],
  ];
}

/** Replaces whole names only, the longest first: `web` must not be found in `web-2` or in `website`. */
function replacerOf(exact: ReadonlyMap<string, string>): (text: string) => string {
  const names = [...exact.keys()].filter((name) => name !== '').sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  const pattern = new RegExp(`(?<![\\w.-])(?:${names.map((name) => RegExp.escape(name)).join('|')})(?!\\w|-\\w)`, 'g');
  return (text) => text.replace(pattern, (name) => `${open}${exact.get(name) ?? name}${close}`);
}

function outsideMarks(text: string, [pattern, symbol]: Pattern): string {
  if (text.search(pattern) < 0) return text;
  const parts = text.split(marked).map((part) => (part.startsWith(open) ? part : part.replace(pattern, symbol)));
  return parts.join('');
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
