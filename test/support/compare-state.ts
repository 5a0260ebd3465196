import { apiVersionOf, CoreEvents, type Kind, type KubeObject, type UntypedObject } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { diffValues, type Difference } from './compare-values.ts';
import { createSymbols, type DumpedObject, fieldsOf, type Symbols } from './compare-symbols.ts';

/** The objects of a namespace at the end of a scenario. */
export interface State {
  readonly namespace: string;
  readonly objects: readonly DumpedObject[];
}

export interface DumpOptions {
  readonly namespace: string;
  /** Including `CoreEvents` compares events too. Cluster-scoped kinds are listed whole. */
  readonly kinds: readonly Kind[];
}

export async function dumpState(
  client: Client,
  { namespace, kinds }: DumpOptions,
  signal: AbortSignal,
): Promise<State> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.listAll(kind, kind.namespaced ? { namespace } : {}, signal);
      return items.map((object) => dumped(kind, object));
    }),
  );
  return { namespace, objects: lists.flat() };
}

/** For states that were not read from a server. */
export function dumped(kind: Kind, object: KubeObject): DumpedObject {
  return { kind: kind.kind, object: { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind } };
}

export interface CompareOptions {
  /** The names of the two states in the result. Default: a and b. */
  readonly names?: readonly [string, string] | undefined;
  /** `Kind:path` with `*` for anything, as `Pod:status.containerStatuses*` or `*:metadata.generation`. */
  readonly ignore?: readonly string[] | undefined;
  /** Also compare the counts of events, which depend on retries and so on timing. Default: false. */
  readonly eventCounts?: boolean | undefined;
}

/**
 * The differences between two states, except random names, uids, times, resource versions, addresses and the choice of
 * nodes and zones. Empty if there are none. Objects are matched by their symbolic names. If several objects have the
 * same symbolic name, as the pods of a ReplicaSet, equal ones are paired first, so that only real differences are left.
 */
export function compareStates(a: State, b: State, options: CompareOptions = {}): string[] {
  const [nameA, nameB] = options.names ?? ['a', 'b'];
  const isIgnored = compileIgnores(options.ignore ?? []);
  const [symbolsA, symbolsB] = [symbolsOf(a), symbolsOf(b)];
  const [groupsA, groupsB] = [groupObjects(a, symbolsA), groupObjects(b, symbolsB)];
  const differences = sortedKeys(groupsA, groupsB).flatMap((title) => {
    const [kind = ''] = title.split(' ');
    const ignores = (path: string): boolean => isIgnored(`${kind}:${path}`);
    const { left, right } = unmatched(groupsA.get(title) ?? [], groupsB.get(title) ?? [], ignores);
    return compareUnmatched(left, right, { nameA, nameB, ignores }).map((difference) => `${title}: ${difference}`);
  });
  const events = [countEvents(a, symbolsA), countEvents(b, symbolsB)] as const;
  const withCounts = options.eventCounts === true;
  return [...differences, ...compareEvents(events, { nameA, nameB, isIgnored, withCounts })];
}

type Ignores = (path: string) => boolean;

function compareUnmatched(
  left: readonly unknown[],
  right: readonly unknown[],
  { nameA, nameB, ignores }: { readonly nameA: string; readonly nameB: string; readonly ignores: Ignores },
): string[] {
  const pairs = Math.min(left.length, right.length);
  const differences = left
    .slice(0, pairs)
    .flatMap((value, index) => diffValues(value, right[index]))
    .filter(({ path }) => !ignores(path))
    .map(({ path, a, b }) => `${path}: ${nameA} ${show(a)}, ${nameB} ${show(b)}`);
  if (left.length > pairs) differences.push(`${left.length - pairs} more in ${nameA}`);
  if (right.length > pairs) differences.push(`${right.length - pairs} more in ${nameB}`);
  return differences;
}

function compileIgnores(patterns: readonly string[]): Ignores {
  const compiled = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => RegExp.escape(part));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (path) => compiled.some((pattern) => pattern.test(path));
}

function sortedKeys(...maps: readonly ReadonlyMap<string, unknown>[]): string[] {
  return [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((a, b) => (a < b ? -1 : 1));
}

const isEvent = ({ kind }: DumpedObject): boolean => kind === CoreEvents.kind;

function symbolsOf({ namespace, objects }: State): Symbols {
  const named = objects.filter((dumped) => !isEvent(dumped)); // events have random names, and no object refers to them
  return createSymbols(namespace, named);
}

function groupObjects({ objects }: State, symbols: Symbols): ReadonlyMap<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const dumped of objects) {
    if (isEvent(dumped)) continue;
    const title = `${dumped.kind} ${symbols.nameOf(dumped.object)}`;
    groups.set(title, [...(groups.get(title) ?? []), normaliseObject(dumped.object, symbols)]);
  }
  return groups;
}

function normaliseObject(object: UntypedObject, symbols: Symbols): unknown {
  const { resourceVersion: _version, managedFields: _managers, name: _name, ...metadata } = object.metadata;
  return normalise({ ...object, metadata }, symbols);
}

function normalise(value: unknown, symbols: Symbols): unknown {
  if (typeof value === 'string') return symbols.text(value);
  if (Array.isArray(value)) return value.map((item) => normalise(item, symbols));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [symbols.text(name), normalise(field, symbols)]),
  );
}

/** The objects of both sides without an equal on the other side, sorted so that similar objects are paired. */
function unmatched(
  left: readonly unknown[],
  right: readonly unknown[],
  ignores: Ignores,
): { readonly left: unknown[]; readonly right: unknown[] } {
  const rest = [...right];
  const onlyLeft = left.filter((value) => {
    const match = rest.findIndex((other) => diffValues(value, other).every(({ path }) => ignores(path)));
    if (match >= 0) rest.splice(match, 1);
    return match < 0;
  });
  const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return { left: onlyLeft.sort(byText), right: rest.sort(byText) };
}

interface EventComparison {
  readonly nameA: string;
  readonly nameB: string;
  readonly isIgnored: Ignores;
  readonly withCounts: boolean;
}

/**
 * Events are compared by their contents, each once: a recorder may write a repeated event as a count, as several events,
 * or combined with similar ones from the tenth on.
 */
function compareEvents(
  [countsA, countsB]: readonly [Counts, Counts],
  { nameA, nameB, isIgnored, withCounts }: EventComparison,
): string[] {
  return sortedKeys(countsA, countsB).flatMap((title) => {
    if (isIgnored(`Event:${title}`)) return [];
    const [countA = 0, countB = 0] = [countsA.get(title), countsB.get(title)];
    if (countA > 0 && countB > 0 && (!withCounts || countA === countB)) return [];
    return [`Event ${title}: ${nameA} ${countA} times, ${nameB} ${countB} times`];
  });
}

type Counts = ReadonlyMap<string, number>;

const combined = /^\(combined from similar events\): /;

function countEvents({ objects }: State, symbols: Symbols): Counts {
  const counts = new Map<string, number>();
  for (const dumped of objects) {
    if (!isEvent(dumped)) continue;
    const { object } = dumped;
    const about = fieldsOf(object['involvedObject']);
    const component = object['reportingComponent'] || fieldsOf(object['source'])['component']; // empty where combined
    const words = [
      about['kind'],
      about['name'],
      object['type'],
      object['reason'],
      `(${String(component)})`,
      String(object['message']).replace(combined, ''),
    ];
    const title = symbols.text(words.map(String).join(' '));
    const count = object['count'];
    counts.set(title, (counts.get(title) ?? 0) + (typeof count === 'number' ? count : 1));
  }
  return counts;
}

function show(value: Difference['a']): string {
  return value === undefined ? 'has none' : JSON.stringify(value);
}
