import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  Namespaces,
  objectKey,
  parseTime,
  Pods,
  Secrets,
  ServiceAccounts,
  type Secret,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import { compareStates, dumpState, type State } from '../support/compare-state.ts';
import { eventually } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { runWithBoth, type ManagerName, type Stage } from '../support/side-by-side.ts';
import { usernameOf } from '../support/token-bearer.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'serviceaccounts-suite' });
  client = clients.clientFor('serviceaccounts-suite');
});

afterAll(() => clients?.close());

const fileFlags = (): string[] => [
  `--root-ca-file=${cluster().files.ca}`,
  `--service-account-private-key-file=${cluster().files.serviceAccountKey}`,
];
const controllers = ['serviceaccount-controller', 'serviceaccount-token-controller', 'root-ca-cert-publisher'];

const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';

function tokenSecret(namespace: string, name: string, account: string, more: Partial<Secret> = {}): Unsaved<Secret> {
  const { metadata, ...fields } = more;
  const annotations = { [nameAnnotation]: account, ...metadata?.annotations };
  const labels = { ...metadata?.labels };
  return { type: 'kubernetes.io/service-account-token', ...fields, metadata: { namespace, name, annotations, labels } };
}

const decode = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();

/** The token in a Secret, once it differs from `former`. */
async function tokenOf(namespace: string, name: string, signal: AbortSignal, former = ''): Promise<string> {
  return eventually(async () => {
    const { data } = await client.get(Secrets, objectKey(namespace, name), signal);
    const token = decode(data?.['token']);
    return token !== '' && token !== former && token;
  }, signal);
}

async function isGone(kind: typeof Secrets, namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(kind, objectKey(namespace, name), signal);
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

describe('with our controller manager', () => {
  let manager: Manager;
  beforeAll(async () => {
    const flags = [`--controllers=${controllers.join(',')}`, '--leader-elect=false'];
    manager = await startManager(cluster(), [...flags, '--use-service-account-credentials=true', ...fileFlags()]);
  });
  afterAll(() => manager?.stop());

  test('every namespace has its default account and root certificates, again after each loss', async ({ signal }) => {
    const namespace = 'fresh';
    await client.create(Namespaces, { metadata: { name: namespace } }, signal);
    const rootCa = readFileSync(cluster().files.ca, 'utf8');
    const configMapKey = objectKey(namespace, 'kube-root-ca.crt');
    const isPublished = async (): Promise<boolean> => {
      const { data, metadata } = await client.get(ConfigMaps, configMapKey, signal);
      expect(metadata.annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/);
      return data?.['ca.crt'] === rootCa && Object.keys(data).length === 1;
    };
    const account = await eventually(
      () => client.get(ServiceAccounts, objectKey(namespace, 'default'), signal),
      signal,
    );
    await eventually(isPublished, signal);

    await client.delete(ServiceAccounts, objectKey(namespace, 'default'), {}, signal);
    await eventually(async () => {
      const next = await client.get(ServiceAccounts, objectKey(namespace, 'default'), signal);
      return next.metadata.uid !== account.metadata.uid;
    }, signal);
    await client.patch(ConfigMaps, configMapKey, { type: 'merge', body: { data: { 'ca.crt': 'x', y: 'z' } } }, signal);
    await eventually(isPublished, signal);
    await client.delete(ConfigMaps, configMapKey, {}, signal);
    await eventually(isPublished, signal);

    const { body } = await manager.get('/metrics');
    expect(body).toMatch(/root_ca_cert_publisher_sync_total\{code="200"\} [1-9]/);
    expect(body).toMatch(/workqueue_adds_total\{name="serviceaccount_tokens_service"\}/);
  });

  test('a token Secret is valid until its token is replaced, or the account is deleted', async ({ signal }) => {
    const namespace = await createNamespace(cluster(), 'tokens');
    const access = cluster();
    const accepts = (token: string, as: string | undefined): Promise<true> =>
      eventually(async () => (await usernameOf(access, token, signal)) === as, signal);
    await client.create(ServiceAccounts, { metadata: { namespace, name: 'robot' } }, signal);
    await client.create(Secrets, tokenSecret(namespace, 'token', 'robot'), signal);
    const first = await tokenOf(namespace, 'token', signal);
    await accepts(first, `system:serviceaccount:${namespace}:robot`);

    const withoutToken = { type: 'merge', body: { data: { token: null, 'ca.crt': null } } } as const;
    await client.patch(Secrets, objectKey(namespace, 'token'), withoutToken, signal);
    const second = await tokenOf(namespace, 'token', signal, first);
    await accepts(second, `system:serviceaccount:${namespace}:robot`);
    await accepts(first, undefined);

    await client.delete(ServiceAccounts, objectKey(namespace, 'robot'), {}, signal);
    await eventually(() => isGone(Secrets, namespace, 'token', signal), signal);
    expect(await accepts(second, undefined)).toBe(true);
  });

  test('a recreated account inherits no token', async ({ signal }) => {
    const namespace = await createNamespace(cluster(), 'anew');
    const robot = { metadata: { namespace, name: 'robot' } };
    await client.create(ServiceAccounts, robot, signal);
    await client.create(Secrets, tokenSecret(namespace, 'token', 'robot'), signal);
    await tokenOf(namespace, 'token', signal);
    await client.delete(ServiceAccounts, objectKey(namespace, 'robot'), {}, signal);
    const { metadata } = await client.create(ServiceAccounts, robot, signal);
    await eventually(() => isGone(Secrets, namespace, 'token', signal), signal);
    const now = await client.get(ServiceAccounts, objectKey(namespace, 'robot'), signal);
    expect(now.metadata.uid).toBe(metadata.uid);
  });
});

/** The claims of a token, with values that differ between runs replaced by those that they must equal. */
async function claimsOf({ client: own, namespace }: Stage, name: string, signal: AbortSignal): Promise<string> {
  const secret = await own.get(Secrets, objectKey(namespace, name), signal);
  const [header = '', payload = ''] = decode(secret.data?.['token']).split('.');
  const uid = secret.metadata.annotations?.[uidAnnotation] ?? '';
  const text = [header, payload].map((part) => Buffer.from(part, 'base64url').toString()).join(' ');
  return text.replaceAll(namespace, 'NAMESPACE').replaceAll(uid, 'UID');
}

test('accounts, tokens and certificates end up as with the Go controller manager', async ({ signal }) => {
  const claims = new Map<ManagerName, string>();
  const run = async (stage: Stage): Promise<void> => {
    const { client: own, namespace } = stage;
    const secretAt = (name: string): Promise<Secret> => own.get(Secrets, objectKey(namespace, name), signal);
    const published = objectKey(namespace, 'kube-root-ca.crt');
    const secrets = [{ name: 'plain' }, { name: 'lost' }, { name: 'unrelated' }];
    await own.create(ServiceAccounts, { metadata: { namespace, name: 'robot' }, secrets }, signal);
    const filled = { 'ca.crt': 'b3RoZXI=', token: 'dG9rZW4=', extra: 'eA==' };
    const stranger = { metadata: { annotations: { [uidAnnotation]: 'someone-else' } } as never };
    for (const secret of [
      tokenSecret(namespace, 'plain', 'robot'),
      tokenSecret(namespace, 'filled', 'robot', { data: filled }),
      tokenSecret(namespace, 'lost', 'robot'),
      tokenSecret(namespace, 'orphan', 'nobody'),
      tokenSecret(namespace, 'stranger', 'robot', stranger),
    ]) {
      await own.create(Secrets, secret, signal);
    }
    await own.create(Secrets, { metadata: { namespace, name: 'opaque' }, type: 'Opaque', data: filled }, signal);
    await eventually(async () => ((await secretAt('plain')).data?.['token'] ?? '') !== '', signal);
    await eventually(async () => ((await secretAt('lost')).data?.['token'] ?? '') !== '', signal);
    await eventually(async () => (await secretAt('filled')).data?.['ca.crt'] !== filled['ca.crt'], signal);
    for (const name of ['orphan', 'stranger']) await eventually(() => isGone(Secrets, namespace, name, signal), signal);
    claims.set(stage.manager, await claimsOf(stage, 'plain', signal));
    await own.delete(Secrets, objectKey(namespace, 'lost'), {}, signal);
    await eventually(async () => {
      const account = await own.get(ServiceAccounts, objectKey(namespace, 'robot'), signal);
      return account.secrets?.every(({ name }) => name !== 'lost') === true;
    }, signal);
    const { metadata } = await eventually(() => own.get(ConfigMaps, published, signal), signal);
    const changes = { metadata: { annotations: { 'kubernetes.io/description': null, a: 'b' } }, data: { more: 'x' } };
    await own.patch(ConfigMaps, published, { type: 'merge', body: changes }, signal);
    await eventually(async () => {
      const next = await own.get(ConfigMaps, published, signal);
      return next.metadata.resourceVersion !== metadata.resourceVersion && next.data?.['more'] === undefined;
    }, signal);
    await own.delete(ServiceAccounts, objectKey(namespace, 'default'), {}, signal);
    await eventually(() => own.get(ServiceAccounts, objectKey(namespace, 'default'), signal), signal);
  };
  const differences = await runWithBoth(
    cluster(),
    { controllers, flags: fileFlags(), kinds: [Secrets, ServiceAccounts, ConfigMaps], run },
    { ignore: ['Secret:data.token', 'Secret:data.namespace'] },
    signal,
  );
  expect(differences).toEqual([]);
  expect(claims.get('ours')).toBe(claims.get('go'));
});

/** Tokens in every state, handled by one of the two managers, and their end states. */
async function cleanUp(manager: ManagerName, signal: AbortSignal): Promise<State> {
  const namespace = await createNamespace(cluster(), manager);
  const generated = ['unused', 'invalid', 'invalid-today', 'mounted', 'used', 'odd'];
  const secrets = generated.map((name) => ({ name }));
  await client.create(ServiceAccounts, { metadata: { namespace, name: 'robot' }, secrets }, signal);
  const today = new Date().toISOString().slice(0, 10);
  const labels: Readonly<Record<string, Record<string, string>>> = {
    invalid: { 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' },
    'invalid-today': { 'kubernetes.io/legacy-token-invalid-since': today },
    mounted: { 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' },
    used: { 'kubernetes.io/legacy-token-last-used': today, 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' },
    odd: { 'kubernetes.io/legacy-token-last-used': '2020-13-01' },
    'by-hand': { 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' },
  };
  const created = await Promise.all(
    [...generated, 'by-hand'].map((name) => {
      const metadata = { labels: labels[name] ?? {} } as never;
      return client.create(
        Secrets,
        tokenSecret(namespace, name, 'robot', { metadata, data: { token: 'eA==' } }),
        signal,
      );
    }),
  );
  const volumes = [{ name: 'token', secret: { secretName: 'mounted' } }];
  const spec = { containers: [{ name: 'main', image: 'example' }], volumes };
  await client.create(Pods, { metadata: { namespace, name: 'pod' }, spec }, signal);
  // There is one check a day, so all must be older than the period at the first check.
  const newestMs = Math.max(...created.map(({ metadata }) => parseTime(metadata.creationTimestamp) ?? Infinity));
  await eventually(async () => Date.now() - newestMs > 3000, signal);
  const flags = ['--controllers=legacy-service-account-token-cleaner', '--leader-elect=false'];
  // Without a key, the token controller does not run. It would remove the references.
  const all = [
    ...flags,
    '--use-service-account-credentials=true',
    '--service-account-private-key-file=',
    '--legacy-service-account-token-clean-up-period=1s',
  ];
  const stop = manager === 'ours' ? await startOurs(all) : await startGo(all);
  try {
    await eventually(() => isGone(Secrets, namespace, 'invalid', signal), signal);
    await eventually(async () => {
      const { metadata } = await client.get(Secrets, objectKey(namespace, 'unused'), signal);
      return metadata.labels?.['kubernetes.io/legacy-token-invalid-since'] === today;
    }, signal);
    return await dumpState(client, { namespace, kinds: [Secrets, ServiceAccounts] }, signal);
  } finally {
    await stop();
  }
}

async function startOurs(flags: readonly string[]): Promise<() => Promise<unknown>> {
  const started = await startManager(cluster(), flags);
  return () => started.stop();
}

async function startGo(flags: readonly string[]): Promise<() => Promise<unknown>> {
  const { process } = await startGoControllerManager(cluster(), flags);
  return () => process.stop();
}

test('unused tokens are deleted as by the Go controller manager, and no others', async ({ signal }) => {
  const key = objectKey('kube-system', 'kube-apiserver-legacy-service-account-token-tracking');
  const patch = { type: 'merge', body: { data: { since: '2020-01-01' } } } as const;
  await eventually(() => client.patch(ConfigMaps, key, patch, signal), signal);
  const ours = await cleanUp('ours', signal);
  expect(ours.objects.filter(({ kind }) => kind === 'Secret').map(({ object }) => object.metadata.name)).toEqual([
    'by-hand',
    'invalid-today',
    'mounted',
    'odd',
    'unused',
    'used',
  ]);
  expect(compareStates(ours, await cleanUp('go', signal), { names: ['ours', 'go'] })).toEqual([]);
});
