import { decodeMessage, type Model, type Span } from './decode.ts';
import { describedMessage, firstField, readEnvelope } from './objects.ts';
import type { Fields } from './shape.ts';

/** The numbers of `metadata` in an object, and of `ownerReferences` in that. */
const metadataNumber = 1;
const ownersNumber = 13;

/** The number of owners whose last object is kept as a model, with its bytes: some 10 kB for a pod. */
const mostModels = 256;

/**
 * Decodes objects of one kind, one after the other. Each is compared with the last one of the same owner, and shares the
 * parts that are equal. So the objects must not be changed.
 *
 * The gain: a pod of 13 kB as JSON takes 17 µs instead of 28 µs, and 35 µs as JSON. Pods of one owner differ in names, times
 * and addresses. The parts that they share take no memory.
 */
export class ObjectDecoder {
  readonly #models = new Map<string, Model>();

  /** The object in an envelope. Throws `ProtobufError`. */
  decode(span: Span): Fields {
    const { apiVersion, kind, content } = readEnvelope(span);
    const key = `${kind} ${ownerIn(content)}`;
    const model = this.#models.get(key);
    const message = describedMessage(apiVersion, kind);
    const object: Fields = { apiVersion, kind, ...decodeMessage(message, content, model) };
    this.#keep(key, content, object);
    return object;
  }

  #keep(key: string, { bytes, start, end }: Span, value: Fields): void {
    const oldest = this.#models.size < mostModels || this.#models.has(key) ? key : this.#models.keys().next().value;
    const spare = this.#models.get(oldest ?? key)?.span.bytes;
    this.#models.delete(oldest ?? key);
    const length = end - start;
    // The bytes are overwritten by the next events. Allocating a buffer for each object would cost more than copying.
    const copy = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafeSlow(length);
    bytes.copy(copy, 0, start, end);
    this.#models.set(key, { span: { bytes: copy, start: 0, end: length }, value });
  }
}

/** The encoded first owner of an object, or an empty string. */
function ownerIn({ bytes, start, end }: Span): string {
  const metadata = firstField(metadataNumber, { bytes, start, end });
  const owner = metadata === undefined ? undefined : firstField(ownersNumber, metadata);
  return owner === undefined ? '' : bytes.toString('latin1', owner.start, owner.end);
}
