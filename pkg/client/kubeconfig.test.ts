import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { json, LoopbackServer } from '../../test/support/loopback-server.ts';
import { createAuthority, issueCertificate } from '../certificates/index.ts';
import { ClientBuilder } from './client-builder.ts';
import { ConfigError } from './errors.ts';
import { loadKubeconfig, type Connection } from './kubeconfig.ts';

const never = new AbortController().signal;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, content: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly file?: object;
}

function kubeconfig({ cluster = {}, user = {}, context = {}, file = {} }: Parts = {}): object {
  return {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }, { name: 'broken' }],
    users: [{ name: 'u', user }],
    ...file,
  };
}

async function load(content: unknown, clock = new FakeClock()): Promise<Connection> {
  return loadKubeconfig({ path: write('config', content) }, clock);
}

async function headersOf(connection: Connection): Promise<readonly string[]> {
  return (await connection.credentials.current(never)).headers;
}

describe('the errors of loadKubeconfig', () => {
  const rows: readonly { name: string; content: unknown; message: RegExp }[] = [
    { name: 'malformed YAML', content: 'a: [', message: /^kubeconfig \S+config: not valid YAML: .+$/ },
    {
      name: 'a file that is not a kubeconfig',
      content: 'hello',
      message: /^kubeconfig \S+: Invalid input: expected object/,
    },
    {
      name: 'no current context',
      content: kubeconfig({ file: { 'current-context': '' } }),
      message: /: current-context is not set$/,
    },
    {
      name: 'an unknown context',
      content: kubeconfig({ file: { 'current-context': 'x' } }),
      message: /: context "x" does not exist$/,
    },
    {
      name: 'a missing cluster',
      content: kubeconfig({ context: { cluster: 'x' } }),
      message: /: cluster "x" does not exist$/,
    },
    { name: 'a missing user', content: kubeconfig({ context: { user: 'x' } }), message: /: user "x" does not exist$/ },
    {
      name: 'a cluster without server',
      content: kubeconfig({ cluster: { server: null } }),
      message: /: cluster "c": server: /,
    },
    {
      name: 'a server that is not an address',
      content: kubeconfig({ cluster: { server: 'ftp://x' } }),
      message: /: server: "ftp:\/\/x" is not an http or https address$/,
    },
    {
      name: 'a host and port with a path',
      content: kubeconfig({ cluster: { server: 'localhost:8080/x' } }),
      message: /: server: "localhost:8080\/x" is not an http or https address$/,
    },
    {
      name: 'a missing CA file',
      content: kubeconfig({ cluster: { 'certificate-authority': 'no.crt' } }),
      message: /: certificate-authority: \S+no\.crt: no such file$/,
    },
    {
      name: 'a missing token file',
      content: kubeconfig({ user: { tokenFile: 'no.token' } }),
      message: /: tokenFile: \S+no\.token: no such file$/,
    },
    {
      name: 'a missing certificate file',
      content: kubeconfig({ user: { 'client-certificate': '/no.crt' } }),
      message: /: client-certificate: \/no\.crt: no such file$/,
    },
    {
      name: 'a CA that is not a certificate',
      content: kubeconfig({ cluster: { 'certificate-authority-data': 'eA==' } }),
      message: /: certificate-authority: \S/,
    },
    {
      name: 'a proxy with an unknown scheme',
      content: kubeconfig({ cluster: { 'proxy-url': 'socks5://x' } }),
      message: /: proxy-url: "socks5:\/\/x" is not/,
    },
    {
      name: 'a missing plugin',
      content: kubeconfig({ user: { exec: { command: './no-plugin' } } }),
      message: /: credentials: spawn \S+no-plugin ENOENT$/,
    },
    {
      name: 'a plugin that fails',
      content: kubeconfig({ user: { exec: { command: 'sh', args: ['-c', 'echo not logged in >&2; exit 3'] } } }),
      message: /: credentials: not logged in$/,
    },
    {
      name: 'a plugin that answers with something else',
      content: kubeconfig({ user: { exec: { command: 'echo', args: ['hello'] } } }),
      message: /: credentials: the answer of the plugin is not an ExecCredential$/,
    },
    {
      name: 'a plugin that gives nothing',
      content: kubeconfig({ user: { exec: { command: 'echo', args: ['{"status":{}}'] } } }),
      message: /: credentials: the plugin gave neither token nor certificate$/,
    },
    {
      name: 'an auth provider, which client-go has replaced by plugins',
      content: kubeconfig({ user: { 'auth-provider': { name: 'oidc' } } }),
      message: /: auth-provider "oidc" is not supported, use exec$/,
    },
  ];
  for (const { name, content, message } of rows) {
    test(name, async () => {
      const error: unknown = await load(content).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({ message: expect.stringMatching(message) });
      expect(String(error)).not.toContain('\n');
    });
  }
  test('a missing kubeconfig', async () => {
    await expect(loadKubeconfig({ path: '/no/such/config' }, new FakeClock())).rejects.toThrow(
      /^kubeconfig \/no\/such\/config: no such file$/,
    );
  });
  test('in-cluster configuration outside a cluster', async () => {
    await expect(loadKubeconfig({}, new FakeClock())).rejects.toThrow(
      /^in-cluster configuration: KUBERNETES_SERVICE_HOST/,
    );
  });
});

describe('in a pod', () => {
  const proxyEnv = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('the service account is the identity, and its token is read again', async () => {
    const serviceAccountDirectory = join(directory, 'serviceaccount');
    mkdirSync(serviceAccountDirectory);
    const validity = { fromMs: 0, untilMs: 10_000_000 };
    const { certificate } = createAuthority({ commonName: 'cluster', validity });
    write('serviceaccount/ca.crt', certificate);
    write('serviceaccount/namespace', 'team\n');
    write('serviceaccount/token', 'first\n');
    const clock = new FakeClock();
    const { address, credentials, namespace } = await loadKubeconfig({ proxyEnv, serviceAccountDirectory }, clock);
    expect({ url: address.url, namespace }).toEqual({ url: 'https://[fd00::1]:443', namespace: 'team' });
    const first = await credentials.current(never);
    expect(first).toMatchObject({ tls: { ca: certificate }, headers: ['authorization', 'Bearer first'] });
    write('serviceaccount/token', 'second\n');
    await clock.advance(600_000);
    expect((await credentials.current(never)).headers).toEqual(['authorization', 'Bearer second']);
  });
});

describe('loadKubeconfig gives', () => {
  const rows: readonly { name: string; user: object; headers: readonly string[] }[] = [
    { name: 'a token', user: { token: 't' }, headers: ['authorization', 'Bearer t'] },
    { name: 'a name and password', user: { username: 'a', password: 'b' }, headers: ['authorization', 'Basic YTpi'] },
    {
      name: 'an impersonated user',
      user: { token: 't', as: 'jane', 'as-groups': ['x', 'y'], 'as-uid': '7' },
      headers: [
        'impersonate-user',
        'jane',
        'authorization',
        'Bearer t',
        'impersonate-group',
        'x',
        'impersonate-group',
        'y',
        'impersonate-uid',
        '7',
      ],
    },
    {
      name: 'groups, uid and extra fields of an impersonated user',
      user: { as: 'jane', 'as-user-extra': { scopes: ['a', 'b'], 'example.com/ü%': ['c'] } },
      headers: [
        'impersonate-user',
        'jane',
        'impersonate-extra-scopes',
        'a',
        'impersonate-extra-scopes',
        'b',
        'impersonate-extra-example.com%2F%C3%BC%25',
        'c',
      ],
    },
    { name: 'no headers without credentials', user: {}, headers: [] },
  ];
  for (const { name, user, headers } of rows) {
    test(name, async () => expect(await headersOf(await load(kubeconfig({ user })))).toEqual(headers));
  }

  test('the token of a plugin, which gets the cluster in its environment', async () => {
    const script = `#!/bin/sh
case "$KUBERNETES_EXEC_INFO" in *'"server":"https://127.0.0.1:6443"'*) token=told;; *) token=untold;; esac
echo '{"status":{"token":"'$token'"}}'`;
    chmodSync(write('plugin.sh', script), 0o755);
    const exec = { command: './plugin.sh', apiVersion: 'client.authentication.k8s.io/v1', provideClusterInfo: true };
    expect(await headersOf(await load(kubeconfig({ user: { exec } })))).toEqual(['authorization', 'Bearer told']);
  });

  test('a new token of a plugin after the server rejected the last one', async () => {
    const counter = join(directory, 'counter');
    const script = `#!/bin/sh\necho x >> ${counter}\necho '{"status":{"token":"'$(wc -l < ${counter} | tr -d ' ')'"}}'`;
    chmodSync(write('counting.sh', script), 0o755);
    const { credentials } = await load(kubeconfig({ user: { exec: { command: './counting.sh' } } }));
    const identity = await credentials.current(never);
    expect(identity.headers).toEqual(['authorization', 'Bearer 1']);
    credentials.rejected(identity);
    expect((await credentials.current(never)).headers).toEqual(['authorization', 'Bearer 2']);
  });

  test('a new token of a plugin when the last one has expired', async () => {
    const clock = new FakeClock();
    const counter = join(directory, 'expiring');
    const until = new Date(clock.now() + 5000).toISOString();
    const status = `{"status":{"token":"'$(wc -l < ${counter} | tr -d ' ')'","expirationTimestamp":"${until}"}}`;
    chmodSync(write('expiring.sh', `#!/bin/sh\necho x >> ${counter}\necho '${status}'`), 0o755);
    const { credentials } = await load(kubeconfig({ user: { exec: { command: './expiring.sh' } } }), clock);
    const tokenAfter = async (ms: number): Promise<string | undefined> => {
      await clock.advance(ms);
      return (await credentials.current(never)).headers[1];
    };
    expect([await tokenAfter(0), await tokenAfter(4999), await tokenAfter(1)]).toEqual([
      'Bearer 1',
      'Bearer 1',
      'Bearer 2',
    ]);
  });

  test('credentials of the user rather than those of a plugin', async () => {
    const user = { token: 'own', exec: { command: './no-such-plugin' } };
    expect(await headersOf(await load(kubeconfig({ user })))).toEqual(['authorization', 'Bearer own']);
  });

  test('the first of several files that has a name or the current context, with paths from where it stands', async () => {
    mkdirSync(join(directory, 'other'), { recursive: true });
    write('other/token', 'from the other');
    const first = write('first', {
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
    });
    const second = write('other/second', kubeconfig({ user: { tokenFile: 'token' } }));
    const third = write('third', kubeconfig({ user: { token: 'never read' }, file: { 'current-context': 'gone' } }));
    const connection = await loadKubeconfig({ paths: [first, second, third] }, new FakeClock());
    expect(await headersOf(connection)).toEqual(['authorization', 'Bearer from the other']);
    expect(connection.namespace).toBe('mine');
  });

  test('a report of each certificate of a plugin', async () => {
    const clock = new FakeClock();
    const authority = createAuthority({ commonName: 'ca', validity: { fromMs: 0, untilMs: 10_000_000 } });
    const answer = (untilMs: number): void => {
      const validity = { fromMs: 1000, untilMs };
      const { certificate, privateKey } = issueCertificate(authority, {
        commonName: 'u',
        usages: ['client'],
        validity,
      });
      write('answer.json', { status: { clientCertificateData: certificate, clientKeyData: privateKey } });
    };
    answer(5_000_000);
    chmodSync(write('certificate.sh', `#!/bin/sh\ncat ${join(directory, 'answer.json')}`), 0o755);
    const told: unknown[] = [];
    const path = write('config', kubeconfig({ user: { exec: { command: './certificate.sh' } } }));
    const onPluginCertificate = (certificate: unknown): void => void told.push(certificate);
    const { credentials } = await loadKubeconfig({ path, onPluginCertificate }, clock);
    credentials.rejected(await credentials.current(never));
    expect(told).toEqual([{ issuedAtMs: 1000, expiresAtMs: 5_000_000 }]);
    answer(6_000_000);
    credentials.rejected(await credentials.current(never));
    await credentials.current(never);
    expect(told.slice(1)).toEqual([{ issuedAtMs: 1000, expiresAtMs: 6_000_000 }]);
  });

  test('the content of a token file, read every minute, over the same connections', async () => {
    const clock = new FakeClock();
    write('token', 'first\n');
    const { credentials } = await load(kubeconfig({ user: { tokenFile: 'token' } }), clock);
    const first = await credentials.current(never);
    write('token', 'second\n');
    expect(credentials.current(never)).toBe(first);
    await clock.advance(60_000);
    const second = await credentials.current(never);
    expect([first.headers[1], second.headers[1]]).toEqual(['Bearer first', 'Bearer second']);
    expect(second.tls).toBe(first.tls);
  });

  test('the last content of a deleted token file', async () => {
    const clock = new FakeClock();
    const path = write('vanishing', 'first');
    const { credentials } = await load(kubeconfig({ user: { tokenFile: 'vanishing' } }), clock);
    await credentials.current(never);
    rmSync(path);
    await clock.advance(60_000);
    expect((await credentials.current(never)).headers).toEqual(['authorization', 'Bearer first']);
  });

  test('the server name and insecure-skip-tls-verify', async () => {
    const cluster = { 'tls-server-name': 'kubernetes', 'insecure-skip-tls-verify': true };
    const { credentials } = await load(kubeconfig({ cluster }));
    const { tls } = await credentials.current(never);
    expect(tls).toMatchObject({ serverName: 'kubernetes', insecureSkipVerify: true });
  });

  const servers: readonly { name: string; server: string; cluster: object; url: string }[] = [
    { name: 'http for a host and port', server: 'localhost:8080', cluster: {}, url: 'http://localhost:8080' },
    {
      name: 'https for a host and port, where TLS is configured',
      server: 'localhost:6443',
      cluster: { 'insecure-skip-tls-verify': true },
      url: 'https://localhost:6443',
    },
  ];
  for (const { name, server, cluster, url } of servers) {
    test(name, async () => {
      expect((await load(kubeconfig({ cluster: { ...cluster, server } }))).address.url).toBe(url);
      const path = write('config', kubeconfig({ cluster }));
      expect((await loadKubeconfig({ path, server }, new FakeClock())).address.url).toBe(url);
    });
  }

  test('the server of the options', async () => {
    const path = write('config', kubeconfig());
    const { address } = await loadKubeconfig({ path, server: '127.0.0.1:8080' }, new FakeClock());
    expect(address.url).toBe('http://127.0.0.1:8080');
  });
});

describe('proxies', () => {
  for (const source of ['proxy-url', 'environment'] as const) {
    test(`requests go through the proxy of the ${source}`, async () => {
      await using proxy = await LoopbackServer.start(json({ through: 'proxy' }));
      const server = 'http://server.invalid:6443';
      const cluster = source === 'proxy-url' ? { server, 'proxy-url': proxy.url } : { server };
      const clock = new FakeClock();
      const path = write('config', kubeconfig({ cluster }));
      const connection = await loadKubeconfig(
        { path, proxyEnv: source === 'environment' ? { HTTP_PROXY: proxy.url } : {} },
        clock,
      );
      const builder = new ClientBuilder({ connection, clock, userAgent: 'test' });
      const answer = await builder.clientFor('x').request({ method: 'GET', path: '/version' }, never);
      expect(answer).toEqual({ through: 'proxy' });
      expect(proxy.requests[0]?.path).toBe('http://server.invalid:6443/version');
      builder.close();
    });
  }
});
