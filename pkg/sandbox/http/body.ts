import { ownValue, parseJson } from '../../api/index.ts';
import type { IncomingMessage } from 'node:http';

import { CORE_SCHEMA, load } from 'js-yaml';

import { badRequest, Failure } from '../failure.ts';
import type { Registry } from '../registry/index.ts';
import { ProtobufError, readEnvelope } from '../../protobuf/index.ts';
import { decodeProtobuf, objectType, type ObjectType } from '../schema/index.ts';

/** The limit of kube-apiserver: the limit of etcd, plus room for the patch around it. */
const maxBytes = 3 * 1024 * 1024;

/**
 * An alias can refer to a list of aliases. Ten aliases make a body at most 36 times larger; a hundred would fill the
 * memory.
 */
const maxAliases = 10;

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
export function parseBody(body: Buffer, mediaType: string, registry: Registry): unknown {
  if (mediaType === 'application/vnd.kubernetes.protobuf') return parseProtobuf(body, registry);
  const text = body.toString('utf8');
  switch (mediaType) {
    case '':
    case 'application/json':
    case 'application/json-patch+json':
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
      return parseJsonBody(text);
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYaml(text);
    default:
      throw unsupportedMediaType('application/json, application/yaml, application/vnd.kubernetes.protobuf');
  }
}

export function unsupportedMediaType(accepted: string): Failure {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new Failure(415, 'UnsupportedMediaType', message);
}

/** The bodies of subresources and deletes: objects that are never stored. */
const passing: Readonly<Record<string, string>> = {
  Binding: 'io.k8s.api.core.v1.Binding',
  DeleteOptions: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  Eviction: 'io.k8s.api.policy.v1.Eviction',
  Scale: 'io.k8s.api.autoscaling.v1.Scale',
  TokenRequest: 'io.k8s.api.authentication.v1.TokenRequest',
};

/** Go clients send built-in kinds as protobuf, and accept JSON in return. */
function parseProtobuf(body: Buffer, registry: Registry): unknown {
  try {
    const { apiVersion, kind, content } = readEnvelope({ bytes: body, start: 0, end: body.length });
    const type = typeOf(apiVersion, kind, registry);
    if (type === undefined)
      throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
    return { ...decodeProtobuf(content, type), apiVersion, kind };
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(error.message);
    throw error;
  }
}

function typeOf(apiVersion: string, kind: string, registry: Registry): ObjectType | undefined {
  const resource = registry.byKind(apiVersion, kind);
  if (resource?.type.kind === 'built-in') return resource.type.object;
  const name = ownValue(passing, kind);
  return name === undefined ? undefined : objectType(name);
}

function parseJsonBody(text: string): unknown {
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : ''}`);
  }
}

function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA, maxAliases });
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
