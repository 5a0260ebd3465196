/** A response as data, to be written elsewhere. */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };

export function textAnswer(code: number, body: string): Answer {
  return { code, headers: plain, body };
}

export function jsonAnswer(code: number, body: unknown, pretty = false): Answer {
  const text = pretty ? JSON.stringify(body, undefined, 2) : `${JSON.stringify(body)}\n`;
  return { code, headers: { 'Content-Type': 'application/json' }, body: withoutMarkup(text) };
}

export const notFound: Answer = textAnswer(404, '404 page not found\n');

export function internalError(requestUri: string, problem: string): Answer {
  return textAnswer(500, `${escapeHtml(`Internal Server Error: ${JSON.stringify(requestUri)}: ${problem}`)}\n`);
}

/** The request has wrong credentials. */
export function unauthorized(pretty: boolean): Answer {
  const status = { ...failure, message: 'Unauthorized', reason: 'Unauthorized', code: 401 };
  return jsonAnswer(401, status, pretty);
}

export interface Refusal {
  readonly user: string;
  readonly verb: string;
  readonly path: string;
  /** The reason of the authorizer, often empty. */
  readonly reason: string;
}

export function forbidden({ user, verb, path, reason }: Refusal, pretty: boolean): Answer {
  const attempt = escapeHtml(`User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(path)}`);
  const message = `forbidden: ${attempt}${reason === '' ? '' : `: ${reason}`}`;
  const { headers, ...answer } = jsonAnswer(
    403,
    { ...failure, message, reason: 'Forbidden', details: {}, code: 403 },
    pretty,
  );
  return { ...answer, headers: { ...headers, 'X-Content-Type-Options': 'nosniff' } };
}

const failure = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };

/** Indented, because people read these pages with a browser or curl. */
export function prefersPretty(userAgent: string, pretty: string | null): boolean {
  if (pretty !== null && pretty !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(pretty);
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

/** Escapes like Go's JSON encoder, so that no browser interprets it as HTML. */
function withoutMarkup(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Escapes the path in an error page, because it may contain HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
