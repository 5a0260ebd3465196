import type { Kind, KubeObject } from '../../pkg/api/index.ts';
import { ApiError, ConnectionError } from '../../pkg/client/index.ts';
import type { Client, ListOptions, ObjectList, WatchEvent, WatchOptions } from '../../pkg/client/index.ts';

/** A watch of the client, whose events the test sends. */
export interface ScriptedWatch {
  readonly type: 'watch';
  readonly options: WatchOptions;
  /** Arrives as one batch. */
  send(...events: WatchEvent<KubeObject>[]): void;
  close(): void;
  fail(error: Error): void;
  /** The client has disconnected. */
  readonly left: boolean;
}

/** A list that the client awaits. */
export interface ScriptedList {
  readonly type: 'list';
  readonly options: ListOptions;
  answer(list: ObjectList<KubeObject>): void;
  fail(error: Error): void;
}

type ScriptedRequest = ScriptedWatch | ScriptedList;

/** Lists and watches that a test answers by hand, in the order of the requests. */
export class ScriptedClient implements Pick<Client, 'list' | 'watchBatches'> {
  readonly #requests: ScriptedRequest[] = [];
  readonly #awaited: ((request: ScriptedRequest) => void)[] = [];

  /** Requests that no `next…` call has returned. */
  get unanswered(): number {
    return this.#requests.length;
  }

  async nextWatch(): Promise<ScriptedWatch> {
    const request = await this.#next();
    if (request.type !== 'watch') throw new Error('expected a watch, got a list');
    return request;
  }

  async nextList(): Promise<ScriptedList> {
    const request = await this.#next();
    if (request.type !== 'list') throw new Error('expected a list, got a watch');
    return request;
  }

  list<T extends KubeObject>(_kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<ObjectList<KubeObject>>();
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    this.#add({ type: 'list', options, answer: resolve, fail: reject });
    return promise as Promise<ObjectList<T>>;
  }

  async *watchBatches<T extends KubeObject>(
    _kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent<T>[]> {
    const stream = new EventStream<readonly WatchEvent<T>[]>();
    signal.addEventListener('abort', () => stream.end(signal.reason as Error), { once: true });
    this.#add({
      type: 'watch',
      options,
      send: (...events) => stream.push(events as WatchEvent<T>[]),
      close: () => stream.end(),
      fail: (error) => stream.end(error),
      get left() {
        return stream.left;
      },
    });
    try {
      yield* stream.read();
    } finally {
      stream.left = true;
    }
  }

  #add(request: ScriptedRequest): void {
    const awaited = this.#awaited.shift();
    if (awaited === undefined) this.#requests.push(request);
    else awaited(request);
  }

  #next(): Promise<ScriptedRequest> {
    const request = this.#requests.shift();
    if (request !== undefined) return Promise.resolve(request);
    return new Promise((resolve) => this.#awaited.push(resolve));
  }
}

/** A queue that is written on one side and read on the other until its end, which may be an error. */
export class EventStream<Item> {
  left = false;
  #items: Item[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => {};

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *read(): AsyncGenerator<Item> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) {
        yield item;
      } else if (this.#end !== undefined) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

export const expiredError = (): ApiError =>
  new ApiError('watch', { code: 410, reason: 'Expired', message: 'too old resource version' });

export const tooLargeError = (): ApiError =>
  new ApiError('watch', {
    code: 504,
    reason: 'Timeout',
    message: 'Too large resource version',
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
  });

/** The response of a server that does not support streamed lists. */
export const refusedError = (): ApiError =>
  new ApiError('watch', { code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden' });

export const unavailableError = (): ApiError =>
  new ApiError('watch', { code: 503, reason: 'ServiceUnavailable', message: 'apiserver is shutting down' });

export const connectionError = (): ConnectionError =>
  new ConnectionError('watch: connection lost', { mayHaveBeenSent: true });
