import type { IncomingMessage, ServerResponse } from 'node:http';

/** A gate for watches. While it is closed, their events wait; then they are delivered in order, without loss. */
export class WatchGate {
  readonly #held = new Map<ServerResponse, Buffer[]>();
  #writesLeft = 0;
  #timer: NodeJS.Timeout | undefined;
  #only: RegExp | undefined;

  pipe(upstream: IncomingMessage, outgoing: ServerResponse, path: string): void {
    upstream.on('data', (chunk: Buffer) => {
      const isOpen = this.#timer === undefined || this.#only?.test(path) === false;
      if (isOpen) outgoing.write(chunk);
      else this.#held.set(outgoing, [...(this.#held.get(outgoing) ?? []), chunk]);
    });
    upstream.on('close', () => {
      this.#flush(outgoing);
      outgoing.end();
    });
    outgoing.on('close', () => this.#held.delete(outgoing));
  }

  /** Stays closed until this many writes were made, or this much time has passed. `only`: the paths of some watches. */
  close({ writes, ms, only }: { readonly writes: number; readonly ms: number; readonly only?: RegExp }): void {
    clearTimeout(this.#timer);
    this.#only = only;
    this.#writesLeft = writes;
    this.#timer = setTimeout(() => this.open(), ms);
  }

  countWrite(): void {
    if (this.#timer !== undefined && --this.#writesLeft <= 0) this.open();
  }

  open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const outgoing of this.#held.keys()) this.#flush(outgoing);
  }

  #flush(outgoing: ServerResponse): void {
    for (const chunk of this.#held.get(outgoing) ?? []) outgoing.write(chunk);
    this.#held.delete(outgoing);
  }
}
