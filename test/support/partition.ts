import type { Kind, KubeObject } from '../../pkg/api/index.ts';
import type { Client, ListOptions, ObjectList, WatchEvent, WatchOptions } from '../../pkg/client/index.ts';
import { connectionError } from './scripted-client.ts';

/** A client that can be partitioned from the server while others still reach it. */
export class Partition implements Pick<Client, 'list' | 'watchBatches'> {
  readonly #client: Client;
  #way = new AbortController();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Requests in flight and new requests fail. */
  cut(): void {
    this.#way.abort(connectionError());
  }

  restore(): void {
    this.#way = new AbortController();
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>> {
    this.#way.signal.throwIfAborted();
    return this.#client.list(kind, options, AbortSignal.any([signal, this.#way.signal]));
  }

  async *watchBatches<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent<T>[]> {
    this.#way.signal.throwIfAborted();
    yield* this.#client.watchBatches(kind, options, AbortSignal.any([signal, this.#way.signal]));
  }
}
