import { isBeingDeleted, parseTime, type Cached, type ContainerStatus, type Pod } from '../../api/index.ts';
import { formatAge } from './column.ts';

type Statuses = readonly Cached<ContainerStatus>[];

/** The STATUS column of `kubectl get pods`, from the phase and the states of the containers. */
export function podStatus(pod: Cached<Pod>): string {
  const { spec, status = {}, metadata } = pod;
  const gated = (status.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  let text = gated ? 'SchedulingGated' : (status.reason ?? status.phase ?? '');
  const starting = initialization(spec, status.initContainerStatuses ?? []);
  if (starting !== undefined) text = starting;
  else text = containersText(status.containerStatuses ?? [], text, pod);
  if (!isBeingDeleted(metadata)) return text;
  if (status.reason === 'NodeLost') return 'Unknown';
  return status.phase === 'Succeeded' || status.phase === 'Failed' ? text : 'Terminating';
}

/** The progress of the init containers; undefined when they are done. */
function initialization(spec: Cached<Pod>['spec'], statuses: Statuses): string | undefined {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  for (const [index, { state, name, started }] of statuses.entries()) {
    if (state?.terminated?.exitCode === 0 || (sidecars.has(name) && started === true)) continue;
    if (state?.terminated !== undefined) return `Init:${terminationText(state.terminated)}`;
    const reason = state?.waiting?.reason ?? '';
    if (reason !== '' && reason !== 'PodInitializing') return `Init:${reason}`;
    return `Init:${index}/${spec.initContainers?.length ?? 0}`;
  }
  return undefined;
}

function containersText(statuses: Statuses, phase: string, { status }: Cached<Pod>): string {
  let text = phase;
  let hasRunning = false;
  for (const { state, ready } of statuses.toReversed()) {
    if ((state?.waiting?.reason ?? '') !== '') text = state?.waiting?.reason ?? '';
    else if (state?.terminated !== undefined) text = terminationText(state.terminated);
    else if (ready && state?.running !== undefined) hasRunning = true;
  }
  if (text !== 'Completed' || !hasRunning) return text;
  const isReady = (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return isReady ? 'Running' : 'NotReady';
}

function terminationText({
  reason,
  signal,
  exitCode,
}: Cached<NonNullable<NonNullable<ContainerStatus['state']>['terminated']>>): string {
  if (reason !== undefined && reason !== '') return reason;
  return signal !== undefined && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

export function podReady({ spec, status }: Cached<Pod>): string {
  const statuses = status?.containerStatuses ?? [];
  const ready = statuses.filter((each) => each.ready && each.state?.running !== undefined).length;
  return `${ready}/${spec.containers.length}`;
}

export function podRestarts({ status }: Cached<Pod>, nowMs: number): string {
  const statuses = status?.containerStatuses ?? [];
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const last = statuses
    .map(({ lastState }) => parseTime(lastState?.terminated?.finishedAt))
    .filter((ms) => ms !== undefined);
  return restarts > 0 && last.length > 0
    ? `${restarts} (${formatAge(nowMs - Math.max(...last))} ago)`
    : String(restarts);
}
