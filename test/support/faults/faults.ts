/** The fault of one write of the manager on its way to the API server. */
export const faults = [
  'kill before', // the process is killed, and the write never reaches the server
  'kill after', // the write is applied, and the process is killed before it gets the response
  'conflict',
  'throttled',
  'server error',
  'reset before',
  'reset after', // the write is applied, but the connection is lost before the response
  'stall',
  'stale watch', // the write is applied and answered, but the watches are stale for a while
] as const;
export type Fault = (typeof faults)[number];

/** These faults affect not only the objects of the trial but everything that the manager does. */
export function isForEverybody(fault: Fault): boolean {
  return isKill(fault) || fault === 'stale watch';
}

export function isKill(fault: Fault): boolean {
  return fault === 'kill before' || fault === 'kill after';
}

/** A write by its verb, resource and subresource, as `PATCH pods/status`: names are random. */
export interface WritePattern {
  readonly pattern: string;
  /** From 1: its place among the writes of its pattern. Writes of one pattern are alike, whatever their order. */
  readonly nth: number;
}

export interface PlannedFault extends WritePattern {
  readonly fault: Fault;
}

export function describeFault({ fault, pattern, nth }: PlannedFault): string {
  return `${fault} at ${pattern} #${String(nth)}`;
}

/** The writes that occurred in all of these runs. */
export function commonWrites(runs: readonly (readonly string[])[]): WritePattern[] {
  const [first = [], ...others] = runs.map(countPatterns);
  return [...new Map(first)].flatMap(([pattern, count]) => {
    const common = Math.min(count, ...others.map((counts) => new Map(counts).get(pattern) ?? 0));
    return Array.from({ length: common }, (_, index) => ({ pattern, nth: index + 1 }));
  });
}

export function countPatterns(writes: readonly string[]): [pattern: string, count: number][] {
  return [...Map.groupBy(writes, (pattern) => pattern)].map(([pattern, group]) => [pattern, group.length]);
}

/** Every fault at every write. */
export function planAll(writes: readonly WritePattern[]): PlannedFault[] {
  return writes.flatMap((write) => faults.map((fault) => ({ ...write, fault })));
}

/**
 * A sample: every third fault, each at another write. `turn` is the scenario's place in the list, so that each scenario
 * continues where the one before it stopped: any three in a row cover every fault.
 */
export function planSome(writes: readonly WritePattern[], turn: number): PlannedFault[] {
  return faults.flatMap((fault, index) => {
    const write = writes[Math.floor((turn + index) / 3) % writes.length];
    return write !== undefined && (index + turn) % 3 === 0 ? [{ ...write, fault }] : [];
  });
}

const ignoredResources: ReadonlySet<string> = new Set(['events', 'leases', 'tokenreviews', 'subjectaccessreviews']);
const namespaceSubresources: ReadonlySet<string> = new Set(['finalize', 'status']);

/** The pattern of a request; undefined if it is not a write, or a write of a lease or an event. */
export function patternOf(method: string, path: string): string | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const segments = path.replace(/\?.*/, '').split('/').filter(Boolean);
  const rest = segments.slice(segments[0] === 'api' ? 2 : 3);
  const [root, , third = ''] = rest;
  const isInNamespace = root === 'namespaces' && rest.length > 2 && !namespaceSubresources.has(third);
  const [resource = '', name, subresource] = isInNamespace ? rest.slice(2) : rest;
  if (ignoredResources.has(resource)) return undefined;
  const which = subresource === undefined ? '' : `/${subresource}`;
  return `${method} ${resource}${which}${method === 'DELETE' && name === undefined ? ' (collection)' : ''}`;
}
