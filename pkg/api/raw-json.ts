import { parseJson } from './exact-integer.ts';

/**
 * JSON text that reaches the server byte for byte, as the value of a top-level field. `JSON.stringify` cannot write every
 * text: it sorts keys that look like integers, and does not escape as Go does. Anywhere else the value is plain data.
 */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return parseJson(Buffer.from(this.text));
  }
}

/** The text of a request body. */
export function stringifyBody(body: unknown): string {
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const raw = Object.entries(body).filter(([, field]) => field instanceof RawJson) as [string, RawJson][];
  if (raw.length === 0) return JSON.stringify(body);
  const others = JSON.stringify({ ...body, ...Object.fromEntries(raw.map(([name]) => [name, undefined])) });
  const members = raw.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(',');
  return others === '{}' ? `{${members}}` : `${others.slice(0, -1)},${members}}`;
}
