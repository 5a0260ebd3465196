import { writeSync } from 'node:fs';

/** Where lines go. They are written in order; `flush` returns when all of them are, or cannot be. */
export interface LogStream {
  write(line: string): void;
  flush(): void;
}

/** Beyond this much, a turn's lines are not kept until its end. */
const BUFFERED = 16 * 1024;
/** What is kept at most for a reader that does not read; later lines are dropped. */
const MAX_KEPT = 1024 * 1024;
const RETRY_MS = 20;
/** How long `flush` waits for such a reader: it may stand between the process and its exit. */
const MAX_FLUSH_WAIT_MS = 1000;

/**
 * Writes to a file descriptor, synchronously, once per turn of the event loop: a burst of lines costs one system call,
 * and no line is held back longer than the work that wrote it. What is buffered when the process exits is written then.
 *
 * Where nothing can be written (closed pipe, full disk) lines are lost: a log is no reason to stop the controllers. A
 * non-blocking pipe that is full is tried again later. (pino's own stream will not do: its synchronous flush tries again
 * for ever on such errors, and forces what it wrote onto the disk.)
 */
export function openLogStream(fd: number): LogStream {
  const stream = new FileStream(fd);
  process.on('exit', () => stream.flush());
  return stream;
}

class FileStream implements LogStream {
  readonly #fd: number;
  /** What a slow reader has not taken yet: bytes, because it may have stopped in the middle of a character. */
  #unwritten: Buffer = Buffer.alloc(0);
  #text = '';
  #scheduled = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#unwritten.length + this.#text.length >= MAX_KEPT) return;
    this.#text += line;
    if (this.#text.length >= BUFFERED && this.#unwritten.length === 0) this.#writeOut();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turnEnds());
  }

  flush(): void {
    for (let waitedMs = 0; !this.#writeOut() && waitedMs < MAX_FLUSH_WAIT_MS; waitedMs += RETRY_MS) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  #turnEnds(): void {
    this.#scheduled = !this.#writeOut();
    if (this.#scheduled) setTimeout(() => this.#turnEnds(), RETRY_MS);
  }

  /** False when the reader must catch up first. */
  #writeOut(): boolean {
    let bytes = this.#unwritten;
    if (this.#text !== '') bytes = Buffer.concat([bytes, Buffer.from(this.#text)]);
    this.#text = '';
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#fd, bytes));
    } catch (error) {
      if (!isBusy(error)) bytes = Buffer.alloc(0);
    }
    this.#unwritten = bytes;
    return bytes.length === 0;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
