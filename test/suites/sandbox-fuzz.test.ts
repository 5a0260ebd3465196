import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { load } from 'js-yaml';
import * as z from 'zod';
import { type Sandbox, startSandbox } from '../../pkg/sandbox/index.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { seededRandom } from '../support/random.ts';

/** Sends malformed requests, and expects that each gets a Status and that the server keeps running. */
let sandbox: Sandbox;
let tls: { readonly ca: string; readonly cert: string; readonly key: string };
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const logger = new RecordingLogger();

const kubeconfig = z.object({
  users: z.array(
    z.object({ user: z.object({ 'client-certificate-data': z.string(), 'client-key-data': z.string() }) }),
  ),
});

beforeAll(async () => {
  sandbox = await startSandbox({ logger });
  const { users } = kubeconfig.parse(load(readFileSync(sandbox.kubeconfigFile, 'utf8')));
  const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
  const user = users[0]?.user;
  tls = {
    ca: sandbox.credentials.authority.certificate,
    cert: text(user?.['client-certificate-data']),
    key: text(user?.['client-key-data']),
  };
});
afterAll(async () => {
  agent.destroy();
  await sandbox.stop();
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly anonymous?: boolean;
}

interface Received {
  readonly status: number;
  readonly body: string;
}

function send({ method, path, headers = {}, body, anonymous = false }: Sent): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const identity = anonymous ? { ca: tls.ca } : tls;
  const outgoing = request(
    `${sandbox.url}${path}`,
    { method, headers: { ...headers }, agent: anonymous ? false : agent, ...identity },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

const json = { 'content-type': 'application/json' };
const pods = '/api/v1/namespaces/default/pods';
const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, more: object = {}): string => JSON.stringify({ metadata: { name }, ...more });
const manyOperations = JSON.stringify(
  Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'x' })),
);

const refused: readonly (Sent & { readonly name: string; readonly status: number; readonly reason: string })[] = [
  { name: 'broken JSON', method: 'POST', path: pods, headers: json, body: '{"a', status: 400, reason: 'BadRequest' },
  { name: 'no object', method: 'POST', path: pods, headers: json, body: '[1]', status: 400, reason: 'BadRequest' },
  { name: 'an empty body', method: 'POST', path: pods, headers: json, body: '', status: 400, reason: 'BadRequest' },
  {
    name: 'a value of the wrong type',
    method: 'POST',
    path: configMaps,
    headers: json,
    body: configMap('x', { data: { a: 1 } }),
    status: 400,
    reason: 'BadRequest',
  },
  {
    name: 'an unknown field under strict validation',
    method: 'POST',
    path: `${configMaps}?fieldValidation=Strict`,
    headers: json,
    body: configMap('x', { dat: {} }),
    status: 400,
    reason: 'BadRequest',
  },
  {
    name: 'another kind',
    method: 'POST',
    path: pods,
    headers: json,
    body: '{"apiVersion":"v1","kind":"Node"}',
    status: 400,
    reason: 'BadRequest',
  },
  {
    name: 'an unknown media type',
    method: 'POST',
    path: pods,
    headers: { 'content-type': 'text/plain' },
    body: '{}',
    status: 415,
    reason: 'UnsupportedMediaType',
  },
  {
    name: 'a patch of no known type',
    method: 'PATCH',
    path: `${configMaps}/x`,
    headers: json,
    body: '{}',
    status: 415,
    reason: 'UnsupportedMediaType',
  },
  {
    name: 'a form that is not available',
    method: 'GET',
    path: pods,
    headers: { accept: 'image/png' },
    status: 406,
    reason: 'NotAcceptable',
  },
  {
    name: 'a body that is too large',
    method: 'POST',
    path: configMaps,
    headers: json,
    body: configMap('x', { data: { a: 'x'.repeat(4 << 20) } }),
    status: 413,
    reason: 'RequestEntityTooLarge',
  },
  {
    name: 'a patch of too many operations',
    method: 'PATCH',
    path: '/api/v1/namespaces/default',
    headers: { 'content-type': 'application/json-patch+json' },
    body: manyOperations,
    status: 413,
    reason: 'RequestEntityTooLarge',
  },
  {
    name: 'a bad label selector',
    method: 'GET',
    path: `${pods}?labelSelector=a%3Db%3Dc`,
    status: 400,
    reason: 'BadRequest',
  },
  {
    name: 'a bad field selector',
    method: 'GET',
    path: `${pods}?fieldSelector=spec.x%3D1`,
    status: 400,
    reason: 'BadRequest',
  },
  { name: 'a bad limit', method: 'GET', path: `${pods}?limit=many`, status: 400, reason: 'BadRequest' },
  { name: 'a bad continue token', method: 'GET', path: `${pods}?continue=xyz`, status: 400, reason: 'BadRequest' },
  { name: 'a bad version', method: 'GET', path: `${pods}?resourceVersion=abc`, status: 400, reason: 'BadRequest' },
  {
    name: 'a version in the future',
    method: 'GET',
    path: `${pods}?resourceVersion=999999`,
    status: 504,
    reason: 'Timeout',
  },
  { name: 'an unknown path', method: 'GET', path: '/nowhere', status: 404, reason: 'NotFound' },
  { name: 'an unknown resource', method: 'GET', path: '/apis/apps/v1/things', status: 404, reason: 'NotFound' },
  { name: 'an unknown subresource', method: 'GET', path: `${configMaps}/x/status`, status: 404, reason: 'NotFound' },
  { name: 'a path that cannot be decoded', method: 'GET', path: '/api/v1/%zz', status: 404, reason: 'NotFound' },
  { name: 'an unknown method', method: 'TRACE', path: pods, status: 405, reason: 'MethodNotAllowed' },
  { name: 'a stranger', method: 'GET', path: pods, anonymous: true, status: 401, reason: 'Unauthorized' },
  {
    name: 'a forged token',
    method: 'GET',
    path: pods,
    headers: { authorization: 'Bearer a.b.c' },
    status: 401,
    reason: 'Unauthorized',
  },
  {
    name: 'broken protobuf',
    method: 'POST',
    path: configMaps,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: Buffer.from('k8s\0\u{ff}\u{ff}'),
    status: 400,
    reason: 'BadRequest',
  },
];

for (const { name, status, reason, ...sent } of refused) {
  test(`refuses ${name}: ${status} ${reason}`, async () => {
    const received = await send(sent);
    expect(received.status, received.body).toBe(status);
    expect(JSON.parse(received.body)).toMatchObject({ kind: 'Status', status: 'Failure', reason, code: status });
  });
}

const snippets = [
  'metadata',
  'spec',
  'status',
  'name',
  'namespace',
  'labels',
  'finalizers',
  'ownerReferences',
  'containers',
  'replicas',
  'selector',
  'template',
  'data',
  'ports',
  '$patch',
  '$setElementOrder/containers',
  '__proto__',
];

function randomValue(random: () => number, depth = 0): unknown {
  const choice = Math.floor(random() * (depth > 3 ? 6 : 8));
  switch (choice) {
    case 0:
      return null;
    case 1:
      return Math.floor((random() - 0.5) * 2 ** 40);
    case 2:
      return random() * 1e10;
    case 3:
      return random() < 0.5;
    case 4:
      return pick(random, ['', 'default', 'x'.repeat(300), '\u{0}', '../..', 'ä🎈', '10%', '1Gi', 'delete', 'replace']);
    case 5:
      return pick(random, snippets);
    case 6:
      return Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 5) }, () => [
          pick(random, snippets),
          randomValue(random, depth + 1),
        ]),
      );
  }
}

const template = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }] }] },
};
const selector = { matchLabels: { a: 'b' } };
/** Valid objects, by path: nearly valid ones get further than random ones. */
const valid: Readonly<Record<string, object>> = {
  [pods]: { spec: template.spec },
  [configMaps]: { data: { a: 'b' }, immutable: false },
  '/api/v1/namespaces/default/services': { spec: { ports: [{ port: 80 }], selector: { a: 'b' }, type: 'NodePort' } },
  '/apis/apps/v1/namespaces/default/deployments': {
    spec: { replicas: 1, selector, template, strategy: { type: 'Recreate' } },
  },
  '/apis/batch/v1/namespaces/default/jobs': {
    spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
  },
  '/apis/batch/v1/namespaces/default/cronjobs': {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
  },
  '/apis/policy/v1/namespaces/default/poddisruptionbudgets': { spec: { selector, minAvailable: 1 } },
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions': {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          subresources: { status: {} },
        },
      ],
    },
  },
};

/** Puts something else in one place of a value. */
function mutate(random: () => number, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.15) return randomValue(random);
  const keys = Object.keys(value);
  const chosen = keys.length === 0 || random() < 0.1 ? pick(random, snippets) : pick(random, keys);
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[chosen] = mutate(random, copy[chosen]);
  return copy;
}

function pick<T>(random: () => number, list: readonly T[]): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

const resources = [
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/services',
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/namespaces/default/secrets',
  '/apis/apps/v1/namespaces/default/deployments',
  '/api/v1/events',
  '/apis/batch/v1/namespaces/default/jobs',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  '/apis',
  '/openapi/v3/api/v1',
  '/api/v1/x/y/z/a/b',
];
const suffixes = [
  '',
  '/x',
  '/x/status',
  '/x/scale',
  '/x/eviction',
  '/x/binding',
  '/x/token',
  '/x/finalize',
  '/%2e%2e',
  '//',
];
const queries = [
  '',
  '?limit=1',
  '?limit=-1',
  '?dryRun=All',
  '?dryRun=Some',
  '?fieldValidation=Strict',
  '?labelSelector=a in (b,c),!d',
  '?fieldSelector=metadata.name=x',
  '?watch=1&timeoutSeconds=0',
  '?resourceVersion=0',
  '?gracePeriodSeconds=0',
  '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=0',
];
const accepts = ['application/json', 'application/yaml', 'application/json;as=Table;g=meta.k8s.io;v=v1', '*/*', 'x/y'];
const types = [
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/html',
];

test('thousands of malformed requests all get a response, and the server keeps running', async () => {
  const random = seededRandom(7);
  const statuses = new Map<number, number>();
  for (let index = 0; index < 3000; index++) {
    const method = pick(random, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
    const value = randomValue(random);
    const named =
      method === 'POST' && random() < 0.5 && typeof value === 'object' ? { ...value, metadata: { name: 'x' } } : value;
    const whole = JSON.stringify(named);
    const body = random() < 0.1 ? whole.slice(0, whole.length / 2) : whole;
    const path = encodeURI(pick(random, resources) + pick(random, suffixes) + pick(random, queries)).replaceAll(
      '%25',
      '%',
    );
    const headers = { accept: pick(random, accepts), 'content-type': pick(random, types) };
    const sent = { method, path, headers, ...(method !== 'GET' && { body }) };
    const received = await send(sent);
    statuses.set(received.status, (statuses.get(received.status) ?? 0) + 1);
    expect(received.status, JSON.stringify({ sent, received })).toBeLessThan(500);
  }
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 405, 406, 415]));
  expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  expect(await send({ method: 'GET', path: '/readyz' })).toEqual({ status: 200, body: 'ok' });
});

test('objects that are nearly valid are accepted or refused, created, patched, updated and deleted', async () => {
  const random = seededRandom(11);
  const statuses = new Map<number, number>();
  for (let index = 0; index < 3000; index++) {
    const place = pick(random, Object.keys(valid));
    const given: object = { metadata: { name: pick(random, ['x', 'y']), finalizers: ['a/b'] }, ...valid[place] };
    const [method, suffix, type] = pick(random, [
      ['POST', '', types[0]],
      ['PUT', '/x', types[0]],
      ['PUT', '/x/status', types[0]],
      ['PATCH', '/x', types[2]],
      ['PATCH', '/y', types[3]],
      ['PATCH', '/x/scale', types[2]],
      ['DELETE', '/x', types[0]],
      ['DELETE', '', types[0]],
    ] as const);
    const mutated = random() < 0.2 ? given : mutate(random, given);
    const body = JSON.stringify(method === 'DELETE' ? mutate(random, { preconditions: { uid: 'x' } }) : mutated);
    const sent = {
      method,
      path: place + suffix,
      headers: { 'content-type': type ?? '', accept: pick(random, accepts) },
      body,
    };
    const received = await send(sent);
    statuses.set(received.status, (statuses.get(received.status) ?? 0) + 1);
    expect(received.status, JSON.stringify({ sent, received })).toBeLessThan(500);
  }
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409, 422]));
  expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a client may disconnect in the middle of its request', async () => {
  for (let index = 0; index < 20; index++) {
    const outgoing = request(`${sandbox.url}${pods}`, {
      method: 'POST',
      agent: false,
      ...tls,
      headers: { 'content-length': '1000' },
    });
    outgoing.on('error', () => {});
    outgoing.write('{"metadata":');
    await new Promise((resolve) => outgoing.once('socket', (socket) => socket.once('secureConnect', resolve)));
    outgoing.destroy();
  }
  expect((await send({ method: 'GET', path: pods })).status).toBe(200);
});
