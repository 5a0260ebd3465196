import { splitCsiUniqueName } from '../../pkg/volumes/index.ts';
import type { ActualState } from './actual-state.ts';
import type { DesiredState } from './desired-state.ts';
import type { NodeReader } from './node-facts.ts';
import { attachmentNameOf, type OwnAttachments } from './own-attachments.ts';
import type { NodeSnapshot, VolumeSnapshot } from './plan.ts';

/** All that this controller knows. It is rebuilt from the API when a process starts to lead. */
export interface World {
  readonly desired: DesiredState;
  readonly actual: ActualState;
  readonly own: OwnAttachments;
  readonly nodes: NodeReader;
}

export function takeSnapshot(
  volumeName: string,
  { actual, desired, nodes, own }: World,
  settings: Pick<VolumeSnapshot, 'isForceDetachDisabled' | 'nowMs'>,
): VolumeSnapshot {
  const needs = desired.needsOf(volumeName);
  const attachments = actual.attachmentsOf(volumeName);
  const operations = actual.operationsOf(volumeName);
  const names = new Set([...attachments.keys(), ...operations.keys(), ...needs.keys()]);
  const [need] = needs.values();
  const known = actual.volumeOf(volumeName) ?? need?.volume;
  const snapshotOf = (nodeName: string): NodeSnapshot => {
    const attachment = attachmentNameOf(volumeName, nodeName);
    return {
      nodeName,
      need: needs.get(nodeName),
      attachment: attachments.get(nodeName),
      operation: operations.get(nodeName),
      node: nodes.factsOf(nodeName, volumeName),
      object: attachment === undefined ? undefined : own.read(attachment),
    };
  };
  return {
    nodes: [...names].sort().map(snapshotOf),
    isExclusive: known?.isExclusive ?? false,
    csi: splitCsiUniqueName(volumeName),
    ...settings,
  };
}
