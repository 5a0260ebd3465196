import type { ServerResponse } from 'node:http';

import { dump } from 'js-yaml';

import type { Failure } from '../failure.ts';

/** The response to a request. Text is sent as it is, anything else as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly contentType?: string | undefined;
  /** A warning, for the client to show to its user. */
  readonly warnings?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function text(body: string): Answer {
  return { status: 200, body, contentType: 'text/plain; charset=utf-8' };
}

export function refusal(failure: Failure): Answer {
  const retryAfter = failure.details?.retryAfterSeconds; // without it, clients do not retry on their own
  const headers = retryAfter === undefined ? undefined : { 'Retry-After': String(retryAfter) };
  return { status: failure.code, body: failure.toStatus(), headers };
}

export function send(response: ServerResponse, answer: Answer, format: 'json' | 'yaml'): void {
  const inYaml = format === 'yaml' && answer.contentType === undefined;
  const json = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  const payload = Buffer.from(inYaml ? yamlOf(json) : json);
  response.setHeader('Content-Type', answer.contentType ?? (inYaml ? 'application/yaml' : 'application/json'));
  response.setHeader('Content-Length', payload.length);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  const warnings = answer.warnings ?? [];
  if (warnings.length > 0) {
    response.setHeader(
      'Warning',
      warnings.map((warning) => `299 - ${JSON.stringify(warning).replaceAll(/[^\x20-\x7e]/g, '?')}`),
    );
  }
  response.writeHead(answer.status);
  response.end(payload);
}

/** Quotes strings that YAML 1.1 would read as another type, such as `yes`: Go clients read that version. */
export function yamlOf(json: string): string {
  return dump(JSON.parse(json), { lineWidth: -1 });
}
