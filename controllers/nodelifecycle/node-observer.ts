import { Nodes } from '../../pkg/api/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { NodeObserver } from './monitor.ts';

/** Records the events on nodes, with the messages of the Go binary, and enqueues the pods of unreachable nodes. */
export function createNodeObserver(recorder: EventRecorder, enqueuePodsOn: (nodeName: string) => void): NodeObserver {
  const record = (name: string, uid: string, reason: string, text: string): void => {
    const subject = { metadata: { name, uid } };
    recorder.event(Nodes, subject, { type: 'Normal', reason, message: `Node ${name} ${text}` });
  };
  return {
    registered: ({ metadata: { name, uid } }) =>
      record(name, uid, 'RegisteredNode', `event: Registered Node ${name} in Controller`),
    removed: (name, uid) => record(name, uid, 'RemovingNode', `event: Removing Node ${name} from Controller`),
    unreachable({ metadata: { name, uid } }, isNew) {
      if (isNew) record(name, uid, 'NodeNotReady', 'status is now: NodeNotReady');
      enqueuePodsOn(name);
    },
  };
}
