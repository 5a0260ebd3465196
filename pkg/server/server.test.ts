import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { ConfigMaps } from '../api/index.ts';
import { createAuthority, issueAuthority, issueCertificate } from '../certificates/index.ts';
import type { KeyedCertificate } from '../certificates/index.ts';
import type { RawRequest } from '../client/index.ts';
import { createServer, HealthChecks } from './index.ts';
import type { Server, ServerOptions } from './index.ts';

const validity = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2060, 0, 1) };
const users = createAuthority({ commonName: 'users', validity });
const proxies = createAuthority({ commonName: 'proxies', validity });
const { signal } = new AbortController();

const serverPair = (host: string): KeyedCertificate =>
  issueCertificate(users, { commonName: host, usages: ['server'], hosts: [host], validity });
const clientPair = (commonName: string, ...organizations: string[]): KeyedCertificate =>
  issueCertificate(users, { commonName, organizations, usages: ['client'], validity });

let directory: string;
let clock: FakeClock;
let servers: Server[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serving-'));
  clock = new FakeClock(Date.UTC(2026, 0, 1));
  servers = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  if (clock.pendingTimers > 0) throw new Error('a closed server has left timers behind');
  await rm(directory, { recursive: true });
});

/** Knows the token `good` as robot, and lets robot and jane get /metrics. */
async function review({ path, body }: RawRequest): Promise<unknown> {
  const text = JSON.stringify(body);
  if (path.endsWith('/tokenreviews')) {
    const isGood = text.includes('"token":"good"');
    return { status: isGood ? { authenticated: true, user: { username: 'robot' } } : { error: 'unknown token' } };
  }
  return { status: { allowed: /"user":"(?:robot|jane)"/.test(text) && !text.includes('/secret') } };
}

type Part<T> = { readonly [K in keyof T]?: T[K] extends object ? Partial<T[K]> : T[K] };

function optionsWith(part: Part<Pick<ServerOptions, 'serving' | 'authentication' | 'content'>> = {}): ServerOptions {
  const client = { get: new RecordingClient().get, request: review };
  const health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
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
      skipLookup: true,
      tolerateLookupFailure: false,
      tokenCacheTtlMs: 10_000,
      clientCaFile: '',
      requestHeader: {
        clientCaFile: '',
        allowedNames: [],
        usernameHeaders: ['x-remote-user'],
        uidHeaders: [],
        groupHeaders: ['x-remote-group'],
        extraHeaderPrefixes: [],
      },
      ...part.authentication,
    },
    authorization: { client, alwaysAllowPaths: ['/healthz'], allowedTtlMs: 10_000, deniedTtlMs: 10_000 },
    content: {
      health,
      config: { 'a.b': { kind: 'C' } },
      profiling: true,
      metrics: { contentType: 'text/plain; version=0.0.4', metrics: async () => 'up 1\n' },
      ...part.content,
    },
    clock,
    logger: silentLogger,
  };
}

async function serve(part?: Parameters<typeof optionsWith>[0]): Promise<Server> {
  const server = createServer(optionsWith(part));
  servers.push(server);
  await server.listen(signal);
  return server;
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the server's certificate. */
  readonly commonName: string | string[] | undefined;
}

interface Ask {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: KeyedCertificate;
  readonly host?: string;
  readonly payload?: string;
}

function get(
  server: Server,
  path: string,
  { method = 'GET', token, as, host = 'localhost', ...ask }: Ask = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const headers = { ...ask.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const tls = { rejectUnauthorized: false, servername: host, cert: as?.certificate, key: as?.privateKey };
  const target = { host: '127.0.0.1', port: server.address?.port, path, method, headers, agent: false as const };
  const outgoing = request({ ...target, ...tls }, (response) => {
    const { socket } = response;
    const commonName = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined;
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      resolve({ status: response.statusCode, headers: response.headers, body, commonName });
    });
  });
  outgoing.on('error', reject);
  outgoing.end(ask.payload);
  return promise;
}

async function writePair(name: string, { certificate, privateKey }: KeyedCertificate): Promise<[string, string]> {
  const files: [string, string] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  // In two steps each, as whoever rotates certificates should: a half-written file is never seen.
  await writeFile(`${files[0]}.new`, certificate);
  await writeFile(`${files[1]}.new`, privateKey);
  await Promise.all(files.map((file) => rename(`${file}.new`, file)));
  return files;
}

describe('pages', () => {
  test('health is allowed to everyone, single checks and other pages need authorization', async () => {
    const server = await serve();
    expect(await get(server, '/healthz')).toMatchObject({ status: 200, body: 'ok' });
    expect(await get(server, '/healthz/ping')).toMatchObject({ status: 403 });
    expect(await get(server, '/healthz/ping', { token: 'good' })).toMatchObject({ status: 200, body: 'ok' });
    expect(await get(server, '/nope')).toMatchObject({ status: 403 });
    expect(await get(server, '/nope', { token: 'good' })).toMatchObject({ status: 404, body: '404 page not found\n' });
    expect(await get(server, '/%zz')).toMatchObject({ status: 400 });
  });

  test('metrics need authorization', async () => {
    const server = await serve();
    const refused = await get(server, '/metrics');
    expect(refused.status).toBe(403);
    expect(refused.headers['cache-control']).toBe('no-cache, private');
    expect(JSON.parse(refused.body)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      reason: 'Forbidden',
      details: {},
      code: 403,
    });
    expect(await get(server, '/metrics', { token: 'bad' })).toMatchObject({ status: 401 });
    expect(await get(server, '/healthz', { token: 'bad' })).toMatchObject({ status: 401 });
    expect(await get(server, '/metrics', { token: 'good' })).toMatchObject({ status: 200, body: 'up 1\n' });
  });

  test('a scrape is compressed if the client accepts gzip', async () => {
    const server = await serve();
    const headers = { 'accept-encoding': 'gzip' };
    expect((await get(server, '/metrics', { token: 'good', headers })).headers['content-encoding']).toBe('gzip');
    const none = { 'accept-encoding': 'gzip;q=0' };
    expect((await get(server, '/metrics', { token: 'good', headers: none })).body).toBe('up 1\n');
  });

  test('the root lists the paths', async () => {
    const reply = await get(await serve(), '/', { token: 'good' });
    expect(JSON.parse(reply.body)).toEqual({ paths: ['/configz', '/healthz', '/livez', '/metrics', '/readyz'] });
  });

  test('without --profiling there is nothing below /debug/', async () => {
    const server = await serve({ content: { profiling: false } });
    expect(await get(server, '/debug/pprof/heap', { token: 'good' })).toMatchObject({ status: 404 });
  });

  test('a heap profile has the places of allocations, and no contents', async () => {
    const server = await serve();
    const token = `bearer-${randomUUID()}`;
    const secrets = Array.from({ length: 20_000 }, (_, index) => ({ data: `${token}-content-${index}` }));
    const { status, body } = await get(server, '/debug/pprof/heap', { token: 'good' });
    expect(status).toBe(200);
    expect(body).not.toContain(token);
    expect(JSON.parse(body)).toMatchObject({ head: { callFrame: { functionName: '(root)' } } });
    expect(await get(server, '/debug/pprof/heapsnapshot', { token: 'good' })).toMatchObject({ status: 404 });
    expect(secrets).toHaveLength(20_000); // in memory until here
  });

  test('a heap snapshot, which has contents, is served only with its flag', async () => {
    const server = await serve({ content: { heapSnapshots: true } });
    const secret = JSON.parse(`{"data":"bearer-${randomUUID()}"}`);
    const { status, body } = await get(server, '/debug/pprof/heapsnapshot', { token: 'good' });
    expect(status).toBe(200);
    expect(body.includes(secret.data)).toBe(true);
    expect((await get(server, '/debug/pprof/heap', { token: 'good' })).body).not.toContain(secret.data);
  });

  test('a processor profile covers the seconds asked for, one at a time', async () => {
    const server = await serve();
    const profile = get(server, '/debug/pprof/profile?seconds=7', { token: 'good' });
    await eventually(async () => clock.pendingTimers === 2, signal); // the profile's beside the refresh's
    expect(await get(server, '/debug/pprof/profile', { token: 'good' })).toMatchObject({ status: 500 });
    await clock.advance(7000);
    expect(JSON.parse((await profile).body)).toHaveProperty('nodes');
  });

  test('debug pages of controllers need authorization', async () => {
    const page = {
      contentType: 'text/vnd.graphviz',
      *parts(query: URLSearchParams) {
        yield 'uids:';
        yield* query.getAll('uid');
      },
    };
    const pages: Readonly<Record<string, typeof page>> = { 'gc graph': page };
    const server = await serve({ content: { controllerPage: (name, rest) => pages[`${name} ${rest}`] } });
    const path = '/debug/controllers/gc/graph?uid=a&uid=b';
    expect(await get(server, path, { token: 'good' })).toMatchObject({ status: 200, body: 'uids:ab' });
    expect(await get(server, path, {})).toMatchObject({ status: 403 });
    expect(await get(server, '/debug/controllers/gc/other', { token: 'good' })).toMatchObject({ status: 404 });
  });

  test('the verbosity can be changed with PUT', async () => {
    const setVerbosity = (value: string): string => {
      if (value !== '4') throw new Error('not a number');
      return 'now 4';
    };
    const server = await serve({ content: { setVerbosity } });
    const put = { token: 'good', method: 'PUT' };
    expect(await get(server, '/debug/flags/v', { ...put, payload: '4' })).toMatchObject({
      status: 200,
      body: 'now 4\n',
    });
    expect(await get(server, '/debug/flags/v', { ...put, payload: 'x' })).toMatchObject({ status: 400 });
    expect(await get(server, '/debug/flags/v', { token: 'good' })).toMatchObject({ status: 406 });
  });
});

describe('clients with certificates', () => {
  test('are the users of their certificates', async () => {
    const [clientCaFile] = await writePair('ca', users);
    const server = await serve({ authentication: { clientCaFile } });
    expect(await get(server, '/metrics', { as: clientPair('jane') })).toMatchObject({ status: 200 });
    expect(await get(server, '/metrics', { as: clientPair('bob') })).toMatchObject({ status: 403 });
    expect(await get(server, '/secret', { as: clientPair('bob', 'system:masters') })).toMatchObject({ status: 404 });
    const stranger = issueCertificate(proxies, { commonName: 'jane', usages: ['client'], validity });
    expect(await get(server, '/metrics', { as: stranger })).toMatchObject({ status: 401 });
  });

  test('may have a chain through an intermediate, or a certificate of a trusted intermediate', async () => {
    const middle = issueAuthority(users, { commonName: 'middle', validity });
    const jane = issueCertificate(middle, { commonName: 'jane', usages: ['client'], validity });
    const withChain = { ...jane, certificate: `${jane.certificate}${middle.certificate}` };
    const [rootFile] = await writePair('root', users);
    const root = await serve({ authentication: { clientCaFile: rootFile } });
    expect(await get(root, '/metrics', { as: withChain })).toMatchObject({ status: 200 });
    expect(await get(root, '/metrics', { as: jane })).toMatchObject({ status: 401 });
    const [middleFile] = await writePair('middle', middle);
    const below = await serve({ authentication: { clientCaFile: middleFile } });
    expect(await get(below, '/metrics', { as: withChain })).toMatchObject({ status: 200 });
    expect(await get(below, '/metrics', { as: jane })).toMatchObject({ status: 200 });
    expect(await get(below, '/metrics', { as: clientPair('jane') })).toMatchObject({ status: 401 });
  });

  test('lose access when their CA is replaced', async () => {
    const [clientCaFile] = await writePair('ca', users);
    const server = await serve({ authentication: { clientCaFile } });
    const jane = clientPair('jane');
    expect((await get(server, '/metrics', { as: jane })).status).toBe(200);
    await writePair('ca', proxies);
    await clock.advance(5000);
    await eventually(async () => (await get(server, '/metrics', { as: jane })).status === 401, signal);
    const other = issueCertificate(proxies, { commonName: 'jane', usages: ['client'], validity });
    expect((await get(server, '/metrics', { as: other })).status).toBe(200);
  });

  test('are verified with the CAs in the cluster', async () => {
    const recording = new RecordingClient();
    recording.seed(ConfigMaps, {
      metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
      data: {
        'client-ca-file': users.certificate,
        'requestheader-client-ca-file': proxies.certificate,
        'requestheader-allowed-names': '["front"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
      },
    });
    const client = { get: recording.get.bind(recording), request: review };
    const server = await serve({ authentication: { client, skipLookup: false } });
    expect((await get(server, '/metrics', { as: clientPair('jane') })).status).toBe(200);
    const front = issueCertificate(proxies, { commonName: 'front', usages: ['client'], validity });
    const headers = { 'X-Remote-User': 'jane' };
    expect((await get(server, '/metrics', { as: front, headers })).status).toBe(200);
    expect((await get(server, '/metrics', { as: front })).status).toBe(401);
    const other = issueCertificate(proxies, { commonName: 'other', usages: ['client'], validity });
    expect((await get(server, '/metrics', { as: other, headers })).status).toBe(401);
    expect((await get(server, '/metrics', { headers })).status).toBe(403);
  });
});

describe('certificates', () => {
  test('are replaced when the files change, and kept while certificate and key do not match', async () => {
    const [tlsCertFile, tlsPrivateKeyFile] = await writePair('tls', serverPair('one'));
    const server = await serve({ serving: { tlsCertFile, tlsPrivateKeyFile } });
    expect((await get(server, '/healthz')).commonName).toBe('one');
    const two = serverPair('two');
    await writeFile(tlsCertFile, two.certificate);
    await clock.advance(5000);
    await eventually(async () => clock.pendingTimers === 1, signal); // it has tried, and waits again
    expect((await get(server, '/healthz')).commonName).toBe('one');
    await writeFile(tlsPrivateKeyFile, two.privateKey);
    await clock.advance(5000);
    await eventually(async () => (await get(server, '/healthz')).commonName === 'two', signal);
  });

  test('are selected by the server name of the client', async () => {
    const main = await writePair('main', serverPair('main'));
    const named = await writePair('named', serverPair('named.org'));
    const wild = await writePair('wild', serverPair('wild'));
    const server = await serve({
      serving: {
        tlsCertFile: main[0],
        tlsPrivateKeyFile: main[1],
        tlsSniCertKeys: [named.join(','), `${wild.join(',')}:*.foo.com`],
      },
    });
    expect((await get(server, '/healthz', { host: 'named.org' })).commonName).toBe('named.org');
    expect((await get(server, '/healthz', { host: 'a.foo.com' })).commonName).toBe('wild');
    expect((await get(server, '/healthz', { host: 'else.org' })).commonName).toBe('main');
  });

  test('are generated when there are none, and kept in --cert-dir for the next start', async () => {
    const certDir = join(directory, 'made', 'up');
    const first = await serve({ serving: { certDir } });
    const { commonName } = await get(first, '/healthz');
    expect(commonName).toMatch(/^localhost@\d+$/);
    expect((await stat(join(certDir, 'kube-controller-manager.key'))).mode & 0o777).toBe(0o600);
    const kept = await readFile(join(certDir, 'kube-controller-manager.crt'), 'utf8');
    await serve({ serving: { certDir } });
    expect(await readFile(join(certDir, 'kube-controller-manager.crt'), 'utf8')).toBe(kept);
  });
});

describe('listen', () => {
  const missing = '/nonexistent/file';
  const rows: readonly { name: string; part: Parameters<typeof optionsWith>[0]; message: RegExp }[] = [
    {
      name: 'an unreadable certificate',
      part: { serving: { tlsCertFile: missing, tlsPrivateKeyFile: missing } },
      message: /^--tls-cert-file: cannot read the file: ENOENT.*$/,
    },
    {
      name: 'a certificate without a key',
      part: { serving: { tlsCertFile: missing } },
      message: /^--tls-cert-file: requires --tls-private-key-file$/,
    },
    {
      name: 'unreadable authorities',
      part: { authentication: { clientCaFile: missing } },
      message: /^--client-ca-file: cannot read the file: ENOENT.*$/,
    },
    {
      name: 'a CA file without certificates',
      part: { authentication: { clientCaFile: '/dev/null' } },
      message: /^--client-ca-file: cannot use \/dev\/null: it contains no certificate$/,
    },
    {
      name: 'an address of another host',
      part: { serving: { bindAddress: '192.0.2.1' } },
      message: /^--bind-address: cannot listen on 192\.0\.2\.1:any: no such address here$/,
    },
  ];
  for (const { name, part, message } of rows) {
    test(`fails with one line for ${name}`, async () => {
      await expect(serve(part)).rejects.toThrow(message);
    });
  }

  test('fails with one line for a port in use', async () => {
    const port = (await serve()).address?.port;
    await expect(serve({ serving: { securePort: port ?? 0 } })).rejects.toThrow(
      `--secure-port: cannot listen on 127.0.0.1:${port}: address already in use`,
    );
  });

  test('fails when the CAs cannot be read from the cluster, unless that is tolerated', async () => {
    const recording = new RecordingClient();
    recording.before('get', () => {
      throw apiError(403, 'Forbidden');
    });
    const client = { get: recording.get.bind(recording), request: review };
    await expect(serve({ authentication: { client, skipLookup: false } })).rejects.toThrow(
      /^--authentication-kubeconfig: cannot read the CAs of clients from the cluster: .*$/,
    );
    const tolerant = await serve({ authentication: { client, skipLookup: false, tolerateLookupFailure: true } });
    expect((await get(tolerant, '/metrics', { token: 'good' })).status).toBe(200);
  });

  test('does not listen with port 0', async () => {
    expect((await serve({ serving: { securePort: 0 } })).address).toBeUndefined();
  });
});
