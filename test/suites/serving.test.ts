import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatMicroTime } from '../../pkg/api/index.ts';
import { createAuthority, issueCertificate } from '../../pkg/certificates/index.ts';
import type { KeyedCertificate } from '../../pkg/certificates/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { createServer, HealthChecks } from '../../pkg/server/index.ts';
import type { AuthenticationOptions, Server, ServerOptions } from '../../pkg/server/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { kubectl, startGoControllerManager } from '../cluster/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { decodeCbor } from '../support/decode-cbor.ts';
import { eventually } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const hourMs = 3_600_000;
const validity = { fromMs: Date.now() - hourMs, untilMs: Date.now() + 24 * hourMs };

interface Question {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: KeyedCertificate;
}

interface Answer {
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly bytes: Buffer;
  readonly warning: string | undefined;
  /** The name in the server's certificate. */
  readonly commonName: string | string[] | undefined;
}

async function ask(base: string, { path, method = 'GET', headers = {}, as }: Question): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const tls = { rejectUnauthorized: false, cert: as?.certificate, key: as?.privateKey };
  const outgoing = request(`${base}${path}`, { method, headers, agent: false, ...tls }, (response) => {
    const { socket, statusCode: status } = response;
    const commonName = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined;
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const { 'content-type': contentType, warning } = response.headers;
      resolve({ status, contentType, body: bytes.toString('utf8'), bytes, warning, commonName });
    });
  });
  outgoing.on('error', reject);
  outgoing.end();
  return promise;
}

let clients: ClientBuilder;
let client: Client;
let goUrl: string;
let readerToken: string;
let otherToken: string;
const servers: Server[] = [];

beforeAll(async () => {
  const path = cluster().kubeconfig({ user: 'system:kube-controller-manager' });
  const connection = await loadKubeconfig({ path }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('serving');
  goUrl = await startStandby(cluster());
  readerToken = await createReader(cluster());
  otherToken = await createToken(cluster(), 'other');
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  clients.close();
});

/** A Go manager that never leads: each controller it starts would add a line to its health. */
async function startStandby(cluster: Cluster): Promise<string> {
  await holdLease(cluster);
  return (await startGoControllerManager(cluster, [`--leader-elect-resource-name=${heldLease}`])).url;
}

const heldLease = 'held-by-another';

async function holdLease(cluster: Cluster): Promise<void> {
  const name = heldLease;
  const spec = {
    holderIdentity: 'another',
    leaseDurationSeconds: 3600,
    acquireTime: formatMicroTime(systemClock.now()),
    renewTime: formatMicroTime(systemClock.now()),
  };
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  const { status } = await cluster.request({ method: 'POST', path, body: { metadata: { name }, spec } });
  expect(status).toBe(201);
}

async function createToken(cluster: Cluster, account: string): Promise<string> {
  await kubectl(cluster, ['create', 'serviceaccount', '-n', 'kube-system', account]);
  return (await kubectl(cluster, ['create', 'token', '-n', 'kube-system', account])).trim();
}

/** An account with permission for metrics and the debug pages. */
async function createReader(cluster: Cluster): Promise<string> {
  const token = await createToken(cluster, 'reader');
  const urls = '--non-resource-url=/metrics,/configz,/flagz,/statusz,/nothing,/debug/*,/healthz/*';
  await kubectl(cluster, ['create', 'clusterrole', 'reader', '--verb=get', urls]);
  const subject = ['--clusterrole=reader', '--serviceaccount=kube-system:reader', '--user=jane'];
  await kubectl(cluster, ['create', 'clusterrolebinding', 'reader', ...subject]);
  return token;
}

function options(part: {
  readonly serving?: Partial<ServerOptions['serving']>;
  readonly authentication?: Partial<AuthenticationOptions>;
  readonly content?: Partial<ServerOptions['content']>;
}): ServerOptions {
  const healthz = new HealthChecks();
  healthz.add({ name: 'leaderElection', check: () => undefined });
  return {
    serving: {
      bindAddress: '127.0.0.1',
      securePort: 'any',
      certDir: '',
      tlsCertFile: '',
      tlsPrivateKeyFile: '',
      tlsSniCertKeys: [],
      tlsCipherSuites: [],
      tlsMinVersion: '',
      tlsCurvePreferences: [],
      permitPortSharing: false,
      ...part.serving,
    },
    authentication: {
      client,
      skipLookup: false,
      tolerateLookupFailure: false,
      tokenCacheTtlMs: 10_000,
      clientCaFile: '',
      requestHeader: {
        clientCaFile: '',
        allowedNames: [],
        usernameHeaders: ['x-remote-user'],
        uidHeaders: [],
        groupHeaders: ['x-remote-group'],
        extraHeaderPrefixes: ['x-remote-extra-'],
      },
      ...part.authentication,
    },
    authorization: {
      client,
      alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
      allowedTtlMs: 10_000,
      deniedTtlMs: 10_000,
    },
    content: {
      health: { healthz, livez: new HealthChecks(), readyz: new HealthChecks() },
      metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', metrics: async () => 'up 1\n' },
      config: { 'kubecontrollermanager.config.k8s.io': { kind: 'KubeControllerManagerConfiguration' } },
      flags: { v: '2' },
      status: {
        startedAtMs: Date.now(),
        binaryVersion: '1.36.4',
        emulationVersion: '1.36',
        runtimeVersion: process.version,
      },
      profiling: true,
      ...part.content,
    },
    clock: systemClock,
    logger: silentLogger,
  };
}

async function serve(part: Parameters<typeof options>[0], signal: AbortSignal): Promise<string> {
  const server = createServer(options(part));
  servers.push(server);
  await server.listen(signal);
  return `https://127.0.0.1:${String(server.address?.port)}`;
}

const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
const issueClient = (user: string, ...groups: string[]): KeyedCertificate => {
  const { ca, caKey } = cluster().files;
  const authority = { certificate: readFileSync(ca, 'utf8'), privateKey: readFileSync(caKey, 'utf8') };
  return issueCertificate(authority, { commonName: user, organizations: groups, usages: ['client'], validity });
};
const frontProxy = (): KeyedCertificate => ({
  certificate: readFileSync(cluster().files.frontProxyClient, 'utf8'),
  privateKey: readFileSync(cluster().files.frontProxyClientKey, 'utf8'),
});
const asJane = { 'X-Remote-User': 'jane' };
const json = (kind: string, version: string): Readonly<Record<string, string>> => ({
  ...bearer(readerToken),
  accept: `application/json;as=${kind};v=${version};g=config.k8s.io`,
});

/** Requests to both servers. `body`: the bodies must be equal. */
const questions: readonly { name: string; question: () => Question; status: number; body?: true }[] = [
  { name: 'health of a stranger', question: () => ({ path: '/healthz' }), status: 200, body: true },
  { name: 'health in words', question: () => ({ path: '/healthz?verbose' }), status: 200, body: true },
  {
    name: 'health without some checks',
    question: () => ({ path: '/healthz?verbose&exclude=leaderElection&exclude=b&exclude=a' }),
    status: 200,
    body: true,
  },
  { name: 'metrics of a stranger', question: () => ({ path: '/metrics' }), status: 403, body: true },
  {
    name: 'metrics of a stranger with curl',
    question: () => ({ path: '/metrics', headers: { 'user-agent': 'curl/8' } }),
    status: 403,
    body: true,
  },
  { name: 'nothing for a stranger', question: () => ({ path: '/nothing' }), status: 403, body: true },
  { name: 'a strange path', question: () => ({ path: '/a%3Cb%3E%22c' }), status: 403, body: true },
  {
    name: 'metrics with a wrong token',
    question: () => ({ path: '/metrics', headers: bearer('nonsense') }),
    status: 401,
    body: true,
  },
  {
    name: 'health with a wrong token',
    question: () => ({ path: '/healthz', headers: bearer('nonsense') }),
    status: 401,
    body: true,
  },
  {
    name: 'metrics for an account without permission',
    question: () => ({ path: '/metrics', headers: bearer(otherToken) }),
    status: 403,
    body: true,
  },
  { name: 'metrics for the reader', question: () => ({ path: '/metrics', headers: bearer(readerToken) }), status: 200 },
  {
    name: 'another verb than permitted',
    question: () => ({ path: '/metrics', method: 'POST', headers: bearer(readerToken) }),
    status: 403,
    body: true,
  },
  {
    name: 'metrics in another spelling',
    question: () => ({ path: '/%6Detrics', headers: bearer(readerToken) }),
    status: 200,
  },
  {
    name: 'a path that does not exist',
    question: () => ({ path: '/nothing', headers: bearer(readerToken) }),
    status: 404,
    body: true,
  },
  {
    name: 'a way round through an open path',
    question: () => ({ path: '/healthz/../metrics' }),
    status: 403,
    body: true,
  },
  { name: 'the configuration', question: () => ({ path: '/configz', headers: bearer(readerToken) }), status: 200 },
  { name: 'the flags', question: () => ({ path: '/flagz', headers: bearer(readerToken) }), status: 200 },
  {
    name: 'the flags as an object',
    question: () => ({ path: '/flagz', headers: json('Flagz', 'v1beta1') }),
    status: 200,
  },
  {
    name: 'the status as an object',
    question: () => ({ path: '/statusz', headers: json('Statusz', 'v1alpha1') }),
    status: 200,
  },
  {
    name: 'the status in a form that is not offered',
    question: () => ({ path: '/statusz', headers: { ...bearer(readerToken), accept: 'image/png' } }),
    status: 406,
  },
  {
    name: 'metrics with a certificate that has permission',
    question: () => ({ path: '/metrics', as: issueClient('jane') }),
    status: 200,
  },
  {
    name: 'metrics with a certificate that has none',
    question: () => ({ path: '/metrics', as: issueClient('bob', 'dev') }),
    status: 403,
    body: true,
  },
  {
    name: 'anything for an administrator',
    question: () => ({ path: '/metrics', as: issueClient('root', 'system:masters') }),
    status: 200,
  },
  {
    name: 'metrics with a certificate of an unknown authority',
    question: () => ({
      path: '/metrics',
      as: issueCertificate(createAuthority({ commonName: 'kubernetes', validity }), {
        commonName: 'jane',
        usages: ['client'],
        validity,
      }),
    }),
    status: 401,
    body: true,
  },
  {
    name: 'metrics through a front proxy',
    question: () => ({ path: '/metrics', as: frontProxy(), headers: asJane }),
    status: 200,
  },
  {
    name: 'metrics for a front proxy itself',
    question: () => ({ path: '/metrics', as: frontProxy() }),
    status: 401,
    body: true,
  },
  {
    name: 'metrics for a stranger who plays front proxy',
    question: () => ({ path: '/metrics', headers: asJane }),
    status: 403,
    body: true,
  },
  {
    name: 'metrics for a user who plays front proxy',
    question: () => ({ path: '/metrics', as: issueClient('bob'), headers: asJane }),
    status: 403,
    body: true,
  },
];

describe('beside the Go binary, with authorities looked up in the cluster', () => {
  let url: string;
  beforeAll(async () => {
    url = await serve({}, new AbortController().signal);
  });
  for (const { name, question, status, body } of questions) {
    test(`${name}: ${String(status)} from both`, async () => {
      const [ours, theirs] = [await ask(url, question()), await ask(goUrl, question())];
      expect([ours.status, theirs.status]).toEqual([status, status]);
      expect(body === true && ours.body).toBe(body === true && theirs.body);
      expect(ours.contentType?.split('; escaping')[0]).toBe(theirs.contentType?.split('; escaping')[0]);
    });
  }

  test('a heap profile without contents for a user who may debug', async () => {
    const { status, body } = await ask(url, { path: '/debug/pprof/heap', headers: bearer(readerToken) });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toHaveProperty('head');
    expect(body).not.toContain(readerToken);
  });
});

const accepts = (kind: string): readonly string[] => {
  const version = (name: string): string => `as=${kind};v=${name};g=config.k8s.io`;
  const encodings = ['json', 'yaml', 'cbor'];
  return [
    '*/*',
    'application/*',
    'image/png',
    'text/plain;charset=utf-8',
    `text/plain;${version('v1beta1')}`,
    `*/*;${version('v1beta1')}`,
    `text/plain;q=0.5,application/yaml;${version('v1beta1')};q=0.9`,
    `application/json;${version('v1beta1')};pretty=1`,
    `application/json;${version('v1beta1')};stream=watch`,
    `application/json;${version('v1')}`,
    'application/json;v=v1beta1',
    ...encodings.map((encoding) => `application/${encoding}`),
    ...encodings.map((encoding) => `application/${encoding};as=Other;v=v1beta1;g=config.k8s.io`),
    ...encodings.flatMap((encoding) =>
      ['v1alpha1', 'v1beta1'].map((name) => `application/${encoding};${version(name)}`),
    ),
  ];
};

/** The parts of both responses that must be equal: everything but values of the process itself. */
function commonParts({ status, contentType, warning, body, bytes }: Answer): unknown {
  const common = { status, contentType, warning };
  if (contentType?.startsWith('text/plain') === true)
    return { ...common, paths: /Paths\S* (.*)/.exec(body)?.[1]?.trim() };
  const encoding = contentType?.split(/[/;]/)[1];
  const object: unknown = encoding === 'cbor' ? decodeCbor(bytes) : encoding === 'yaml' ? load(body) : JSON.parse(body);
  const own = { startTime: 0, uptimeSeconds: 0, goVersion: '', flags: {} };
  const isObject = typeof object === 'object' && object !== null;
  const fields = isObject ? Object.keys(object).sort() : [];
  return {
    ...common,
    fields,
    lines: encoding === 'json' && body.includes('\n  '),
    object: { ...(isObject && object), ...own },
  };
}

describe('/statusz and /flagz beside the Go binary', () => {
  for (const cbor of [false, true]) {
    test(`are negotiated alike with CBORServingAndStorage=${String(cbor)}`, async ({ signal }) => {
      const arguments_ = [
        `--leader-elect-resource-name=${heldLease}`,
        `--feature-gates=CBORServingAndStorage=${String(cbor)}`,
      ];
      const theirs = cbor ? (await startGoControllerManager(cluster(), arguments_)).url : goUrl;
      const ours = await serve({ content: { cbor } }, signal);
      const pages = [
        { path: '/statusz', kind: 'Statusz' },
        { path: '/flagz', kind: 'Flagz' },
      ];
      for (const { path, kind } of pages) {
        for (const accept of accepts(kind)) {
          const question = { path, headers: { ...bearer(readerToken), accept } };
          const [expected, actual] = [await ask(theirs, question), await ask(ours, question)];
          expect(commonParts(actual), `${path} ${accept}`).toEqual(commonParts(expected));
        }
      }
    });
  }
});

describe('with files', () => {
  test('certificates and CAs are reloaded without closing the port', async ({ signal }) => {
    const directory = await mkdtemp(join(tmpdir(), 'serving-'));
    const file = (name: string): string => join(directory, name);
    const first = createAuthority({ commonName: 'first', validity });
    const second = createAuthority({ commonName: 'second', validity });
    const server = (authority: KeyedCertificate, commonName: string): KeyedCertificate =>
      issueCertificate(authority, { commonName, usages: ['server'], hosts: ['127.0.0.1'], validity });
    const jane = (authority: KeyedCertificate): KeyedCertificate =>
      issueCertificate(authority, { commonName: 'jane', usages: ['client'], validity });
    const install = async (
      authority: KeyedCertificate,
      { certificate, privateKey }: KeyedCertificate,
    ): Promise<void> => {
      await writeFile(file('ca.crt'), authority.certificate);
      await writeFile(file('tls.crt'), certificate);
      await writeFile(file('tls.key'), privateKey);
    };
    await install(first, server(first, 'one'));
    const url = await serve(
      {
        serving: { tlsCertFile: file('tls.crt'), tlsPrivateKeyFile: file('tls.key') },
        authentication: { clientCaFile: file('ca.crt') },
      },
      signal,
    );
    const before = await ask(url, { path: '/metrics', as: jane(first) });
    expect(before).toMatchObject({ status: 200, commonName: 'one' });

    await install(second, server(second, 'two'));
    const after = await eventually(async () => {
      const answer = await ask(url, { path: '/metrics', as: jane(second) });
      return answer.status === 200 && answer;
    }, signal);
    expect(after.commonName).toBe('two');
    expect((await ask(url, { path: '/metrics', as: jane(first) })).status).toBe(401);
    await rm(directory, { recursive: true });
  });
});

describe('when the API server does not respond', () => {
  test('health stays open, and undecided requests are refused', async ({ signal }) => {
    const url = await serve({ authentication: { skipLookup: true } }, signal);
    cluster().apiServer.pause();
    try {
      expect((await ask(url, { path: '/healthz' })).status).toBe(200);
      const metrics = [{ path: '/metrics' }, { path: '/metrics', headers: bearer(readerToken) }];
      const answers = await Promise.all(metrics.map((question) => ask(url, question)));
      expect(answers.map(({ status }) => status)).toEqual([500, 401]);
    } finally {
      cluster().apiServer.resume();
    }
    await eventually(
      async () => (await ask(url, { path: '/metrics', headers: bearer(readerToken) })).status === 200,
      signal,
    );
  });
});
