import type { WireRequest } from './exchange.ts';

/** A space or a line end in a path or a header would make another request of it. */
const notInPath = /[^\x21-\x7e]/;
const notInHeader = /[^\t\x20-\x7e\u0080-\uffff]/;
const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** A request as HTTP/1.1 writes it. Throws a TypeError if it cannot be written. */
export function bytesOf({ method, path, headers, body }: WireRequest, authority: string): string {
  if (notInPath.test(path))
    throw new TypeError(`the path ${JSON.stringify(path)} has a character that needs an escape`);
  if (notInHeader.test(headers.join(''))) throw new TypeError('a header has a character that HTTP does not allow');
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  // Without a length, the server would read on.
  if (body === undefined) return withBody.has(method) ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`;
  return `${text}\r\n${body}`;
}
