import { parseJson, type KubeObject } from '../api/index.ts';
import { decodeObject, ObjectDecoder, readWatchEvent } from '../protobuf/index.ts';
import { HeldBytes } from './held-bytes.ts';
import { cutManagedFields } from './managed-fields.ts';

/** An event as the server sends it. */
export interface WireEvent {
  readonly type: string;
  readonly object: KubeObject;
}

/** How the events of a watch are encoded. */
export interface WatchFormat {
  /** The encoded events that are complete with this chunk. The next call may overwrite them. */
  split(chunk: Buffer): Buffer[];
  /** The last event, if the stream ends with it. */
  rest(): Buffer[];
  decode(event: Buffer): WireEvent;
}

export interface WatchFormatOptions {
  readonly keepManagedFields?: boolean | undefined;
  readonly sharesParts?: boolean | undefined;
}

export type WatchFormatName = 'protobuf' | 'json';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/** The format of a response, by its content type. */
export function watchFormatOf(contentType: string | undefined, options: WatchFormatOptions): WatchFormat {
  return contentType?.startsWith(protobufType) === true ? new Frames(options) : new Lines(options);
}

const newline = 0x0a;

/** An event of JSON per line. Splits bytes, so that a character split between two chunks stays whole. */
class Lines implements WatchFormat {
  readonly #keepManagedFields: boolean;
  readonly #held = new HeldBytes();

  constructor({ keepManagedFields = false }: WatchFormatOptions) {
    this.#keepManagedFields = keepManagedFields;
  }

  split(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#held.complete(chunk.subarray(start, end));
      if (line.length > 0) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#held.hold(chunk.subarray(start));
    return lines;
  }

  rest(): Buffer[] {
    const line = this.#held.complete(Buffer.alloc(0));
    return line.length > 0 ? [line] : [];
  }

  decode(line: Buffer): WireEvent {
    return parseJson(this.#keepManagedFields ? line : cutManagedFields(line)) as WireEvent;
  }
}

const lengthBytes = 4;

/**
 * An event of protobuf per frame, with its length before it.
 *
 * The gain: the first state of 20,000 pods of 11 kB takes the API server 0.8 s, where it takes 4 s for JSON, and this
 * program half of the CPU.
 */
class Frames implements WatchFormat {
  readonly #held = new HeldBytes();
  /** Undefined before the length of the next frame has arrived. */
  #frameBytes: number | undefined;
  readonly #decoder: ObjectDecoder | undefined;

  constructor({ sharesParts = false }: WatchFormatOptions) {
    this.#decoder = sharesParts ? new ObjectDecoder() : undefined;
  }

  split(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    for (let at = 0; at < chunk.length;) {
      const missing = (this.#frameBytes ?? lengthBytes) - this.#held.length;
      const part = chunk.subarray(at, at + missing);
      at += part.length;
      if (part.length < missing) {
        this.#held.hold(part);
        break;
      }
      const whole = this.#held.complete(part);
      if (this.#frameBytes !== undefined) frames.push(whole);
      this.#frameBytes = this.#frameBytes === undefined ? whole.readUInt32BE() : undefined;
    }
    return frames;
  }

  /** A frame that is cut off is an event that did not arrive. */
  rest(): Buffer[] {
    return [];
  }

  decode(bytes: Buffer): WireEvent {
    const { type, object } = readWatchEvent(bytes);
    const decoded: unknown = this.#decoder === undefined ? decodeObject(object) : this.#decoder.decode(object);
    return { type, object: decoded as KubeObject };
  }
}
