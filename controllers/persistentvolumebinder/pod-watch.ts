import { keyOf, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { abortReason } from '../../pkg/time/index.ts';
import type { Handler, Store } from '../../informers/index.ts';

type Waiter = (pod: Cached<Pod> | undefined) => void;

/** Waits for pods to finish, by the events of the cache. */
export class PodWatch {
  readonly #store: Pick<Store<Pod>, 'get' | 'hasSeen'>;
  readonly #waiters = new Map<ObjectKey, Waiter>();

  constructor(store: Pick<Store<Pod>, 'get' | 'hasSeen'>) {
    this.#store = store;
  }

  handler(): Handler<Pod> {
    const tell = (pod: Cached<Pod>, now: Cached<Pod> | undefined): void => this.#waiters.get(keyOf(pod))?.(now);
    return {
      added: (pod) => tell(pod, pod),
      updated: (_before, pod) => tell(pod, pod),
      deleted: (pod) => tell(pod, undefined),
    };
  }

  /** Why the pod failed; undefined if it succeeded. */
  async untilFinished(created: Cached<Pod>, signal: AbortSignal): Promise<string | undefined> {
    const key = keyOf(created);
    const finished = Promise.withResolvers<string | undefined>();
    const look = (pod: Cached<Pod> | undefined): void => {
      // Events before the one of its creation are about an earlier pod of the name.
      if (!this.#store.hasSeen(created.metadata.resourceVersion)) return;
      if (pod?.metadata.uid !== created.metadata.uid) finished.resolve('recycler pod was deleted');
      else if (pod.status?.phase === 'Succeeded') finished.resolve(undefined);
      else if (pod.status?.phase === 'Failed') finished.resolve(failureOf(pod));
    };
    const abort = (): void => finished.reject(abortReason(signal));
    signal.addEventListener('abort', abort, { once: true });
    this.#waiters.set(key, look);
    try {
      if (signal.aborted) abort();
      look(this.#store.get(key));
      return await finished.promise;
    } finally {
      this.#waiters.delete(key);
      signal.removeEventListener('abort', abort);
    }
  }
}

function failureOf({ status }: Cached<Pod>): string {
  const { message = '' } = status ?? {};
  return message === '' ? 'pod failed, pod.Status.Message unknown' : message;
}
