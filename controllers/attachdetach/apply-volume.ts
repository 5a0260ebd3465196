import { Pods } from '../../pkg/api/index.ts';
import { serverMessage, type Client } from '../../pkg/client/index.ts';
import type { EventRecorder, NewEvent } from '../../pkg/events/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { AttachableVolume } from '../../pkg/volumes/index.ts';
import { createAttachment, deleteAttachment, isInUseLive } from './apply.ts';
import { attachedEvent, attachFailedEvent, conflictEvent } from './messages.ts';
import { pluginNameOf, type AttachDetachMetrics } from './metrics.ts';
import { attachmentNameOf } from './own-attachments.ts';
import type { Action } from './plan.ts';
import type { World } from './world.ts';

export interface VolumeDeps {
  readonly world: World;
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly metrics: AttachDetachMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
  /** The status of the node must be written. */
  report(nodeName: string): void;
}

/** Carries out one action, and notes what became of it. */
export async function applyAction(
  volumeName: string,
  action: Action,
  deps: VolumeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName } = action;
  const { actual } = deps.world;
  const attachment = actual.attachmentsOf(volumeName).get(nodeName);
  switch (action.kind) {
    case 'keep':
      if (attachment === undefined) return;
      attachment.unneededSinceMs = undefined;
      if (attachment.report !== 'wanted') {
        attachment.report = 'wanted';
        deps.report(nodeName);
      }
      return;
    case 'request-detach':
      if (attachment !== undefined) attachment.unneededSinceMs = deps.clock.monotonic();
      return;
    case 'withdraw':
      if (attachment !== undefined) attachment.report = 'withdrawn';
      return deps.report(nodeName);
    case 'attached':
      return noteAttached(volumeName, nodeName, deps);
    case 'detached':
      return noteDetached(volumeName, nodeName, deps);
    case 'failed':
      return noteFailed(volumeName, nodeName, action.problem, deps);
    case 'conflict':
      return noteConflict(volumeName, action, deps);
    case 'attach':
    case 'detach':
      return start(volumeName, action, deps, signal);
  }
}

/** An error of the request counts as the failure of the operation. It is tried again with the back-off of volumes. */
async function start(
  volumeName: string,
  action: Extract<Action, { kind: 'attach' | 'detach' }>,
  deps: VolumeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName } = action;
  const { clock, metrics, world } = deps;
  world.actual.start(volumeName, nodeName, action.kind, clock.monotonic());
  const attachment = attachmentNameOf(volumeName, nodeName);
  if (attachment !== undefined) world.own.follow(attachment, volumeName);
  try {
    if (action.kind === 'attach') return await attach(volumeName, nodeName, deps, signal);
    if (action.forced !== undefined) metrics.forced.with({ reason: action.forced }).inc();
    if (action.verifies && (await isInUseLive(deps.client, nodeName, volumeName, signal))) {
      return noteFailed(volumeName, nodeName, 'volume is still in use by node, according to Node status', deps);
    }
    if (attachment !== undefined) await deleteAttachment(deps.client, attachment, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const problem = action.kind === 'attach' ? `kubernetes.io/csi: attacher.Attach failed: ` : '';
    noteFailed(volumeName, nodeName, `${problem}${serverMessage(error)}`, deps);
  }
}

async function attach(volumeName: string, nodeName: string, deps: VolumeDeps, signal: AbortSignal): Promise<void> {
  const { client, world } = deps;
  const attachment = attachmentNameOf(volumeName, nodeName);
  const csi = world.desired.needsOf(volumeName).get(nodeName)?.volume.csi;
  if (csi === undefined || attachment === undefined || world.own.read(attachment).kind !== 'absent') return;
  const version = await createAttachment(client, csi, nodeName, signal);
  if (version !== undefined) world.own.created(attachment, version);
}

function noteAttached(volumeName: string, nodeName: string, deps: VolumeDeps): void {
  const { actual } = deps.world;
  const volume = volumeAt(volumeName, nodeName, deps);
  finish(volumeName, nodeName, deps, true);
  actual.markAttached(volumeName, nodeName, volume === undefined ? {} : { volume });
  deps.report(nodeName);
  deps.logger.info({ volume: volumeName, node: nodeName }, 'volume attached');
  tellPods(volumeName, nodeName, attachedEvent(volume?.name ?? 'nil'), deps);
}

function noteDetached(volumeName: string, nodeName: string, deps: VolumeDeps): void {
  finish(volumeName, nodeName, deps, true);
  deps.world.actual.markDetached(volumeName, nodeName);
  deps.report(nodeName); // a node that is gone is forgotten with its last volume
  deps.logger.info({ volume: volumeName, node: nodeName }, 'volume detached');
}

function noteFailed(volumeName: string, nodeName: string, problem: string, deps: VolumeDeps): void {
  const { actual } = deps.world;
  const kind = actual.operationsOf(volumeName).get(nodeName)?.kind;
  const volume = volumeAt(volumeName, nodeName, deps);
  observe(volumeName, nodeName, deps, false);
  actual.fail(volumeName, nodeName, deps.clock.monotonic());
  actual.markUncertain(volumeName, nodeName, volume);
  deps.logger.warn({ volume: volumeName, node: nodeName, operation: kind, problem }, 'volume operation failed');
  if (kind === 'attach') tellPods(volumeName, nodeName, attachFailedEvent(volume?.name ?? 'nil', problem), deps);
}

function noteConflict(volumeName: string, action: Extract<Action, { kind: 'conflict' }>, deps: VolumeDeps): void {
  const needs = deps.world.desired.needsOf(volumeName);
  const need = needs.get(action.nodeName);
  if (need === undefined) return;
  need.isConflictReported = true;
  const users = action.others.flatMap((other) => [...(needs.get(other)?.pods.values() ?? [])]);
  for (const pod of need.pods.values()) {
    deps.recorder.event(Pods, pod, conflictEvent(need.volume.name, pod, users));
  }
}

function volumeAt(volumeName: string, nodeName: string, { world }: VolumeDeps): AttachableVolume | undefined {
  return world.desired.needsOf(volumeName).get(nodeName)?.volume ?? world.actual.volumeOf(volumeName);
}

function tellPods(volumeName: string, nodeName: string, event: NewEvent, { recorder, world }: VolumeDeps): void {
  const pods = world.desired.needsOf(volumeName).get(nodeName)?.pods.values() ?? [];
  for (const pod of pods) recorder.event(Pods, pod, event);
}

function finish(volumeName: string, nodeName: string, deps: VolumeDeps, isSuccess: boolean): void {
  observe(volumeName, nodeName, deps, isSuccess);
  deps.world.actual.finish(volumeName, nodeName);
  const attachment = attachmentNameOf(volumeName, nodeName);
  if (attachment !== undefined) deps.world.own.forget(attachment);
}

function observe(volumeName: string, nodeName: string, deps: VolumeDeps, isSuccess: boolean): void {
  const operation = deps.world.actual.operationsOf(volumeName).get(nodeName);
  if (operation === undefined) return;
  const volume = volumeAt(volumeName, nodeName, deps);
  deps.metrics.finished({
    pluginName: pluginNameOf(volumeName, volume),
    operation: `volume_${operation.kind}`,
    isMigrated: volume?.isMigrated,
    isSuccess,
    durationMs: deps.clock.monotonic() - operation.sinceMs,
  });
}
