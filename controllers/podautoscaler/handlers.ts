import { keyOf, type HorizontalPodAutoscaler, type ObjectKey } from '../../pkg/api/index.ts';
import type { Handler } from '../../informers/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';

/**
 * Enqueues an autoscaler one period after a change, as the queue's rate limiter says: a change never makes it sync more
 * often. `onPresence` hears which autoscalers exist.
 */
export function enqueueLater(
  queue: Pick<WorkQueue<ObjectKey>, 'add' | 'addRateLimited'>,
  onPresence: (key: ObjectKey, isPresent: boolean) => void,
): Handler<HorizontalPodAutoscaler> {
  return {
    added(autoscaler) {
      onPresence(keyOf(autoscaler), true);
      queue.addRateLimited(keyOf(autoscaler));
    },
    updated: (_before, after) => queue.addRateLimited(keyOf(after)),
    deleted(last) {
      onPresence(keyOf(last), false);
      queue.add(keyOf(last)); // to drop what is remembered of it
    },
  };
}
