import { AnswerError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';

/** More is no answer of an API server. */
const maxLineBytes = 64 * 1024;
const maxPartBytes = 1024 ** 3;
const nothing = Buffer.alloc(0);

/** An answer with its last byte. */
export interface CompleteAnswer extends HttpAnswer {
  /** The server reads further requests from this connection. */
  readonly keepsConnection: boolean;
}

/** What the next bytes of an answer are. */
type Expected =
  | 'head'
  | 'sized body'
  | 'chunk size'
  | 'chunk'
  | 'end of chunk'
  | 'trailer'
  | 'bytes until close'
  | 'nothing';

/** Reads one HTTP/1.1 answer from bytes as they arrive, however they are cut. Throws `AnswerError` if it is none. */
export class AnswerReader {
  #expected: Expected = 'head';
  #head: Head | undefined;
  /** The parts of the body that are complete. */
  readonly #parts: Buffer[] = [];
  /** The body or the chunk that is being received, at its full size. */
  #part: Buffer = nothing;
  #filled = 0;
  /** A line that has not ended yet. */
  #held: Buffer = nothing;
  #bytes: Buffer = nothing;
  #at = 0;

  /** Returns the answer with its last byte. Keeps nothing of `received`, which the caller can overwrite. */
  read(received: Buffer): CompleteAnswer | undefined {
    this.#bytes = this.#held.length === 0 ? received : Buffer.concat([this.#held, received]);
    this.#at = 0;
    while (this.#proceed());
    this.#held = this.#at < this.#bytes.length ? Buffer.from(this.#bytes.subarray(this.#at)) : nothing;
    this.#bytes = nothing;
    if (this.#expected !== 'nothing') return undefined;
    if (this.#held.length > 0) throw new AnswerError('the server has sent more than its answer');
    return this.#answer();
  }

  /** The connection was closed. Returns the answer if that is how its body ends. */
  end(): CompleteAnswer | undefined {
    return this.#expected === 'bytes until close' ? this.#answer() : undefined;
  }

  /** Reads what is expected, as far as it has arrived. Returns false if more bytes are needed, or none. */
  #proceed(): boolean {
    switch (this.#expected) {
      case 'head':
        return this.#readHead();
      case 'sized body':
        return this.#fillPart('nothing');
      case 'chunk':
        return this.#fillPart('end of chunk');
      case 'chunk size':
        return this.#readLine((line) => this.#beginChunk(line));
      case 'end of chunk':
        return this.#readLine((line) => {
          if (line !== '') throw new AnswerError('a chunk of the answer is longer than it says');
          this.#expected = 'chunk size';
        });
      case 'trailer':
        return this.#readLine((line) => {
          if (line === '') this.#expected = 'nothing';
        });
      case 'bytes until close':
        this.#parts.push(Buffer.from(this.#bytes.subarray(this.#at)));
        this.#at = this.#bytes.length;
        return false;
      case 'nothing':
        return false;
    }
  }

  #readHead(): boolean {
    const text = this.#take('\r\n\r\n');
    if (text === undefined) return false;
    const head = parseHead(text);
    if (head.status >= 200) {
      this.#head = head;
      this.#expectBody(head);
    } else if (head.status === 101) throw new AnswerError('the server has switched to another protocol');
    return true; // after an interim answer, as 103, comes the answer
  }

  #expectBody({ status, length, isChunked }: Head): void {
    if (status === 204 || status === 304 || length === 0) this.#expected = 'nothing';
    else if (isChunked) this.#expected = 'chunk size';
    else if (length === undefined) this.#expected = 'bytes until close';
    else this.#beginPart(length, 'sized body');
  }

  #beginChunk(line: string): void {
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i.exec(line)?.[1];
    if (size === undefined) throw new AnswerError('a chunk of the answer has no valid size');
    if (Number.parseInt(size, 16) === 0) this.#expected = 'trailer';
    else this.#beginPart(Number.parseInt(size, 16), 'chunk');
  }

  #beginPart(size: number, expected: 'sized body' | 'chunk'): void {
    if (size > maxPartBytes) throw new AnswerError(`the answer has a part of ${size} bytes`);
    this.#part = Buffer.allocUnsafe(size);
    this.#filled = 0;
    this.#expected = expected;
  }

  #fillPart(next: Expected): boolean {
    const copied = this.#bytes.copy(this.#part, this.#filled, this.#at);
    this.#filled += copied;
    this.#at += copied;
    if (this.#filled < this.#part.length) return false;
    this.#parts.push(this.#part);
    this.#part = nothing;
    this.#expected = next;
    return true;
  }

  #readLine(use: (line: string) => void): boolean {
    const line = this.#take('\r\n');
    if (line === undefined) return false;
    use(line);
    return true;
  }

  /** The text up to a separator. Undefined if it has not arrived yet. */
  #take(separator: string): string | undefined {
    const end = this.#bytes.indexOf(separator, this.#at, 'latin1');
    if (end === -1) {
      if (this.#bytes.length - this.#at > maxLineBytes) throw new AnswerError('the answer has an endless line');
      return undefined;
    }
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + separator.length;
    return text;
  }

  #answer(): CompleteAnswer | undefined {
    if (this.#head === undefined) return undefined;
    const { status, headers, keepsConnection } = this.#head;
    const [first = nothing, ...others] = this.#parts;
    const body = others.length === 0 ? first : Buffer.concat(this.#parts);
    return { status, headers, body, keepsConnection: keepsConnection && this.#expected === 'nothing' };
  }
}

interface Head {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  /** Absent: chunked, or until the connection is closed. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  readonly keepsConnection: boolean;
}

function parseHead(text: string): Head {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, status] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(statusLine) ?? [];
  if (status === undefined) throw new AnswerError('the answer is not HTTP/1.1');
  const values: Partial<Record<string, string>> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new AnswerError('the answer has a header without a name');
    const name = line.slice(0, colon).toLowerCase();
    if (readHeaders.has(name)) values[name] = line.slice(colon + 1).trim();
  }
  const encoding = values['transfer-encoding']?.toLowerCase();
  if (encoding !== undefined && encoding !== 'chunked')
    throw new AnswerError(`the answer has the transfer encoding ${encoding}`);
  return {
    status: Number(status),
    headers: { 'content-type': values['content-type'], 'retry-after': values['retry-after'] },
    length: encoding === undefined ? lengthIn(values['content-length']) : undefined,
    isChunked: encoding !== undefined,
    keepsConnection: minor === '1' && values['connection']?.toLowerCase() !== 'close',
  };
}

const readHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'retry-after',
  'transfer-encoding',
]);

function lengthIn(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new AnswerError(`the answer has the content length ${value}`);
  return Number(value);
}
