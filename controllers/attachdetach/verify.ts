import { objectKey, VolumeAttachments } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { findLive } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { AttachDetachMetrics } from './metrics.ts';
import { attachmentNameOf } from './own-attachments.ts';
import type { World } from './world.ts';

export interface VerifyDeps {
  readonly world: World;
  readonly client: Client;
  readonly metrics: AttachDetachMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Whether the driver of the volume attaches. */
  isAttachable(driver: string): boolean;
  /** The volume is no longer attached to the node. */
  onLost(volumeName: string, nodeName: string): void;
}

/** Looks for attached volumes whose VolumeAttachment is gone, or says that they are not attached. */
export async function verifyAttached(deps: VerifyDeps, signal: AbortSignal): Promise<void> {
  const byNode = Map.groupBy(deps.world.actual.all(), ({ nodeName }) => nodeName);
  for (const [nodeName, entries] of byNode) {
    const startMs = deps.clock.monotonic();
    const volumes = entries.filter(({ attachment }) => attachment.state === 'attached');
    if (volumes.length === 0) continue;
    for (const { volumeName } of volumes) {
      if (await isLost(volumeName, nodeName, deps, signal)) deps.onLost(volumeName, nodeName);
    }
    deps.metrics.finished({
      pluginName: '<n/a>',
      operation: 'verify_volumes_are_attached_per_node',
      isSuccess: true,
      durationMs: deps.clock.monotonic() - startMs,
    });
  }
}

async function isLost(volumeName: string, nodeName: string, deps: VerifyDeps, signal: AbortSignal): Promise<boolean> {
  const { actual, own } = deps.world;
  const { csi } = actual.volumeOf(volumeName) ?? {};
  const name = attachmentNameOf(volumeName, nodeName);
  if (csi === undefined || name === undefined || !deps.isAttachable(csi.driver)) return false;
  const object = own.read(name);
  const isThere =
    object.kind === 'present'
      ? object.isAttached
      : (await findLive(deps.client, VolumeAttachments, objectKey(undefined, name), signal))?.status?.attached;
  // Meanwhile it may have been detached, or a detach may have begun.
  const isStillThought = actual.attachmentsOf(volumeName).get(nodeName)?.state === 'attached';
  return isThere !== true && isStillThought && !actual.operationsOf(volumeName).has(nodeName);
}
