import { formatDuration } from '../time/index.ts';
import type { ObjectPage, ReconcileRecord, Wait } from './protocol.ts';

/** The page of an object as text, for terminals. */
export function formatObjectPage(page: ObjectPage): string {
  const { kind, namespace, name, text } = page;
  const title = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}: ${text}`;
  const sections = [
    section(
      'Conditions',
      page.conditions,
      ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
    ),
    section('Waits', page.waits, formatWait),
    section('Reconciles', page.history, formatRecord),
    section(
      'Events',
      page.events,
      ({ last, type, reason, message, count }) => `${last} ${type} ${reason} (${count}×): ${message}`,
    ),
    section('Owners', page.owners, (owner) => `${owner.kind} ${owner.name}: ${owner.text}`),
    section('Owned', page.owned, (owned) => `${owned.kind} ${owned.name}: ${owned.text}`),
  ];
  const since = `Reads, plans and requests are recorded since ${new Date(page.recordedSinceMs).toISOString()}.`;
  return `${[title, ...sections.filter((lines) => lines !== ''), since].join('\n\n')}\n`;
}

function section<T>(title: string, entries: readonly T[], format: (entry: T) => string): string {
  return entries.length === 0 ? '' : [`${title}:`, ...entries.map((entry) => `  ${format(entry)}`)].join('\n');
}

export function formatWait({ controller, state, ms, retries }: Wait): string {
  const after = retries === 0 ? '' : `, after ${retries} failures`;
  const duration = formatDuration(Math.max(0, Math.round(ms)));
  switch (state) {
    case 'waiting':
      return `in the queue of ${controller}${after}`;
    case 'delayed':
      return `${controller} syncs it in ${duration}${after}`;
    case 'running':
      return `${controller} syncs it since ${duration}${after}`;
  }
}

function formatRecord(record: ReconcileRecord): string {
  const { startedMs, controller, outcome, durationMs, requeueAfterMs, error } = record;
  const requeue = requeueAfterMs === undefined ? '' : `, again in ${formatDuration(Math.round(requeueAfterMs))}`;
  const head = `${new Date(startedMs).toISOString()} ${controller}: ${outcome} in ${durationMs.toFixed(1)} ms${requeue}`;
  const requests = record.requests.map(({ attempted, code, message }) =>
    message === undefined ? `sent ${attempted}: ${code}` : `sent ${attempted}: ${code}, ${message}`,
  );
  const lines = [
    ...(error === undefined ? [] : [`error ${error}`]),
    ...record.reads.map((read) => `read ${read}`),
    ...record.plan.map((line) => `plan ${line}`),
    ...requests,
  ];
  return [head, ...lines.map((line) => `    ${line}`)].join('\n');
}
