const REDACTED = '[redacted]';

/** Fields that hold a credential whatever their value looks like. `data` is how secrets name what they keep. */
const SECRET_KEY =
  /^(?:.*authorization|(?:set-)?cookie|.*passw(?:or)?d|.*token|(?:string|binary)?-?data|.*(?:client|private|tls)[-_.]?key(?:[-_.]?data)?|.*client[-_.]?secret)$/i;

/** Credentials inside longer text: bearer headers, signed tokens, private keys, passwords in addresses. */
const SECRET_TEXT =
  /\b(?:Bearer|Basic)\s+[\w.~+/-]+=*|\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|(?<=:\/\/)[^\s/@:]+:[^\s/@]+(?=@)/g;

/** Deeper than any field should be; also ends cycles. */
const MAX_DEPTH = 6;

/**
 * Fields as they may be logged: credentials taken out, errors as text. The last line of defence, not a licence to log
 * whole objects.
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

/** The message, followed by those of its causes where they add something. */
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

/** Errors that only a mistake in the program raises: without their stack nobody could find it. */
function isBug(error: Error): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}
