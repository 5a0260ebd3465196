import type { Manager } from '../manager.ts';
import { parsePrometheusText } from '../prometheus-text.ts';

/** Refusals of the server, and our own errors about invalid objects. Every other error is a bug of ours. */
const expectedErrors = [
  'ApiError',
  'TerminalError',
  'StaleOwnerError',
  'ContentLeftError',
  'EndpointSliceSyncError',
  'SliceWriteError',
  'NamespacedOwnerError',
  'UnknownKindError',
  'InvalidSelectorError',
  'ScheduleError',
  'InvalidNameError',
  'ClaimsError',
  'AutoscalerError',
];

export interface LoggedError {
  readonly type: string;
  readonly line: string;
}

/** The errors that hostile objects must not cause, in a JSON log with stacks (`-v=4`). */
export function unexpectedErrors(log: string): readonly LoggedError[] {
  return loggedErrors(log).filter(({ type }) => !expectedErrors.includes(type));
}

/** How often each class of error was logged. */
export function countErrors(log: string): ReadonlyMap<string, number> {
  const types = loggedErrors(log).map(({ type }) => type);
  return new Map([...Map.groupBy(types, (type) => type)].map(([type, all]) => [type, all.length]));
}

function loggedErrors(log: string): readonly LoggedError[] {
  return log.split('\n').flatMap((line) => {
    const isStructured = line.startsWith('{');
    if (!isStructured) return line === '' ? [] : [{ type: 'not a line of the log', line }];
    const fields: unknown = JSON.parse(line);
    if (typeof fields !== 'object' || fields === null || !('err' in fields)) return [];
    const stack = 'stack' in fields && typeof fields.stack === 'string' ? fields.stack : '';
    return [{ type: /^\w+/.exec(stack)?.[0] ?? 'no error at all', line }];
  });
}

export interface Health {
  readonly residentMb: number;
  /** Queues with waiting keys. */
  readonly busyQueues: readonly string[];
  /** Checks that fail. */
  readonly failing: readonly string[];
}

export async function readHealth(manager: Manager): Promise<Health> {
  const families = parsePrometheusText(String((await manager.get('/metrics')).body));
  const samples = (name: string) => families.get(name)?.samples ?? [];
  const checks = String((await manager.get('/healthz?verbose')).body).split('\n');
  return {
    residentMb: Math.round((samples('process_resident_memory_bytes')[0]?.value ?? 0) / 2 ** 20),
    busyQueues: samples('workqueue_depth').flatMap(({ labels, value }) => (value > 0 ? [labels['name'] ?? ''] : [])),
    failing: checks.filter((line) => line.startsWith('[-]')),
  };
}
