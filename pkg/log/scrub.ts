const REDACTED = '[redacted]';

/** Names of fields that hold a credential. `data` is the content of a Secret. */
const SECRET_KEY =
  /^(?:.*authorization|(?:set-)?cookie|.*passw(?:or)?d|.*token|(?:string|binary)?-?data|.*(?:client|private|tls)[-_.]?key(?:[-_.]?data)?|.*client[-_.]?secret)$/i;

/** Credentials within a text: bearer headers, signed tokens, private keys, passwords in URLs. */
const SECRET_TEXT =
  /\b(?:Bearer|Basic)\s+[\w.~+/-]+=*|\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|(?<=:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/g;

/** No field should be nested deeper. Also stops at cycles. */
const MAX_DEPTH = 6;

/**
 * The fields to log, with credentials redacted and errors as text. This is the last line of defence: don't log whole
 * objects.
 */
export function scrubFields(fields: object, options: { readonly stacks: boolean }): Record<string, unknown> {
  const scrubbed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (!(value instanceof Error)) {
      scrubbed[key] = SECRET_KEY.test(key) ? REDACTED : scrubValue(value, 1);
      continue;
    }
    scrubbed[key] = scrubText(describeError(value));
    if (value.stack !== undefined && (options.stacks || isBug(value))) scrubbed['stack'] = scrubText(value.stack);
  }
  return scrubbed;
}

function scrubValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return scrubText(describeError(value));
  if (value instanceof Date) return value.toJSON();
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Set) return scrubValue([...value], depth);
  if (value instanceof Map) return scrubValue(Object.fromEntries(value), depth);
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, depth + 1));
  const scrubbed: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    scrubbed[key] = SECRET_KEY.test(key) ? REDACTED : scrubValue(inner, depth + 1);
  }
  return scrubbed;
}

function scrubText(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED);
}

/** The message and the messages of its causes, unless they repeat it. */
function describeError(error: Error): string {
  let text = error.message === '' ? error.name : error.message;
  let cause: unknown = error.cause;
  for (let depth = 0; cause instanceof Error && depth < MAX_DEPTH; depth++, cause = cause.cause) {
    if (!text.includes(cause.message)) text += `: ${cause.message}`;
  }
  if (error instanceof AggregateError) {
    const parts = error.errors.map((part: unknown) => (part instanceof Error ? part.message : String(part)));
    text += ` [${parts.join(', ')}]`;
  }
  return text;
}

/** Errors that only a bug in the program raises. Their stack is needed to find it. */
function isBug(error: Error): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}
