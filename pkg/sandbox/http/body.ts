import type { IncomingMessage } from 'node:http';

import { parse } from 'yaml';

import { badRequest, Failure } from '../failure.ts';

/** As of the API server: what etcd would take, with room for the patch around it. */
const maxBytes = 3 * 1024 * 1024;

/** The whole body. Throws 413. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes) {
    throw new Failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** A body of the given media type as a value. Throws 400 and 415. */
export function parseBody(body: Buffer, mediaType: string): unknown {
  const text = body.toString('utf8');
  switch (mediaType) {
    case '':
    case 'application/json':
    case 'application/json-patch+json':
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
      return parseJson(text);
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYaml(text);
    default:
      throw unsupportedMediaType('application/json, application/yaml');
  }
}

export function unsupportedMediaType(accepted: string): Failure {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new Failure(415, 'UnsupportedMediaType', message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : ''}`);
  }
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
