import type { EventSubject, NewEvent } from '../../pkg/events/index.ts';

const failed = (message: string): NewEvent => ({ type: 'Warning', reason: 'FailedAttachVolume', message });

// Messages end as in Go, with a space where nothing follows.
export function attachedEvent(volume: string): NewEvent {
  const message = `AttachVolume.Attach succeeded for volume ${JSON.stringify(volume)} `;
  return { type: 'Normal', reason: 'SuccessfulAttachVolume', message };
}

export function attachFailedEvent(volume: string, problem: string): NewEvent {
  return failed(`AttachVolume.Attach failed for volume ${JSON.stringify(volume)} : ${problem}`);
}

/** For a pod that waits for a volume which other nodes have. It names no pods of other namespaces. */
export function conflictEvent(volume: string, pod: EventSubject, users: readonly EventSubject[]): NewEvent {
  return failed(`Waiting for detach for volume ${JSON.stringify(volume)} ${describeUsers(pod, users)}`);
}

function describeUsers({ metadata }: EventSubject, users: readonly EventSubject[]): string {
  if (users.length === 0) {
    return 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node';
  }
  const local = users.filter((user) => user.metadata.namespace === metadata.namespace);
  const elsewhere = `${users.length - local.length} pod(s) in different namespaces`;
  if (local.length === 0) return `Volume is already used by ${elsewhere}`;
  const names = local.map((user) => user.metadata.name).join(', ');
  return `Volume is already used by pod(s) ${names}${local.length < users.length ? ` and ${elsewhere}` : ''}`;
}
