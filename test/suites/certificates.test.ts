import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';

import {
  CertificateSigningRequests,
  ClusterRoleBindings,
  ClusterRoles,
  formatTime,
  objectKey,
  type CertificateSigningRequest,
} from '../../pkg/api/index.ts';
import { createSelfSigned } from '../../pkg/certificates/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { isSandbox, startGoControllerManager, type Identity } from '../cluster/index.ts';
import { describeCertificate } from '../support/certificate-fields.ts';
import {
  approve,
  certificateOf,
  createRequest,
  createSigningRequest,
  decide,
  kubeletClient,
  nodeSubject,
  untilFinished,
  type KeyedRequest,
  type RequestSpec,
} from '../support/certificate-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const run = promisify(execFile);
const cluster = useCluster();
const opened: ClientBuilder[] = [];
let client: Client;

async function clientOf(kubeconfig: string): Promise<Client> {
  const connection = await loadKubeconfig({ path: kubeconfig }, systemClock);
  const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'certificates-suite' });
  opened.push(clients);
  return clients.clientFor('certificates-suite');
}
const clientAs = (identity: Identity): Promise<Client> => clientOf(cluster().kubeconfig(identity));

beforeAll(async () => {
  client = await clientOf(cluster().kubeconfig());
});
afterAll(() => opened.forEach((clients) => clients.close()));

const baseFlags = ['--leader-elect=false', '--use-service-account-credentials=true'];
const path = (name: string): string => join(cluster().directory, name);

/** A CA made by openssl. */
async function createAuthorityFiles(name: string, key: readonly string[]): Promise<void> {
  const out = ['-keyout', path(`${name}.key`), '-out', path(`${name}.crt`), '-subj', `/O=test/CN=${name}`];
  const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  await run('openssl', ['req', '-x509', '-nodes', '-days', '100', ...usage, '-newkey', ...key, ...out]);
}

interface Case extends RequestSpec {
  readonly name: string;
  readonly request: KeyedRequest;
}

const serving = ['digital signature', 'key encipherment', 'server auth'];
const apiClient = 'kubernetes.io/kube-apiserver-client';
const servingSigner = 'kubernetes.io/kubelet-serving';

/** Requests for each signer, with each type of key, and requests that each signer refuses. */
async function createCases(): Promise<Case[]> {
  const names = [
    { type: 'ip', value: 'fd00::7' },
    { type: 'dns', value: 'node.example' },
    { type: 'ip', value: '10.0.0.7' },
  ] as const;
  const node = await createRequest(nodeSubject('a'));
  const rsaNode = await createRequest(nodeSubject('b'), [], 'rsa');
  const server = await createRequest(nodeSubject('a'), names, 'rsa');
  const jane = await createRequest([{ CN: ['jane'] }, { O: ['dev', 'ops'] }], [], 'ed25519');
  const rich = await createRequest(
    [
      { CN: ['first'] },
      { O: ['b'] },
      { C: ['CH'] },
      { L: ['Zürich'] },
      { '2.5.4.17': ['8000'] },
      { '2.5.4.9': ['Street 1'] },
      { ST: ['ZH'] },
      { E: ['x@example'] },
      { O: ['aé'] },
      { '2.5.4.5': ['42'] },
      { OU: ['x', 'longer'] },
      { CN: ['last*'] },
    ],
    [...names, { type: 'email', value: 'x@example' }, { type: 'url', value: 'spiffe://example/x' }],
    'P-521',
  );
  const nameless = await createRequest([], [{ type: 'dns', value: 'only.example' }]);
  const kubeletServing = { signerName: servingSigner, usages: serving };
  return [
    { name: 'node', request: node, ...kubeletClient },
    { name: 'rsa-node', request: rsaNode, ...kubeletClient, usages: [...kubeletClient.usages, 'key encipherment'] },
    { name: 'node-for-an-hour', request: node, ...kubeletClient, expirationSeconds: 3600 },
    { name: 'node-for-long', request: node, ...kubeletClient, expirationSeconds: 2_000_000_000 },
    { name: 'node-for-a-day', request: node, ...kubeletClient, expirationSeconds: 86_400 },
    { name: 'server', request: server, ...kubeletServing },
    { name: 'jane', request: jane, signerName: apiClient, usages: ['client auth'], expirationSeconds: 600 },
    { name: 'rich', request: rich, signerName: apiClient, usages: ['key encipherment', 'client auth'] },
    { name: 'nameless', request: nameless, signerName: apiClient, usages: ['client auth'] },
    { name: 'bad-group', request: jane, ...kubeletClient },
    { name: 'bad-names', request: server, ...kubeletClient },
    { name: 'bad-usages', request: node, ...kubeletClient, usages: ['client auth'] },
    { name: 'bad-server', request: node, ...kubeletServing },
    { name: 'bad-client', request: jane, signerName: apiClient, usages: ['client auth', 'server auth'] },
    { name: 'no-client', request: jane, signerName: apiClient, usages: ['digital signature'] },
  ];
}

const conditionsOf = ({ status }: CertificateSigningRequest): unknown =>
  status?.conditions?.map(({ type, status: value, reason, message }) => ({ type, value, reason, message }));

/** Creates, approves and awaits all requests. Returns the result of each. */
async function play(
  prefix: string,
  cases: readonly Case[],
  signal: AbortSignal,
): Promise<Map<string, CertificateSigningRequest>> {
  const finished = new Map<string, CertificateSigningRequest>();
  for (const { name, request, ...spec } of cases) {
    await createSigningRequest(client, `${prefix}-${name}`, request, { ...spec, signal });
    await approve(client, `${prefix}-${name}`, signal);
  }
  for (const { name } of cases) finished.set(name, await untilFinished(client, `${prefix}-${name}`, signal));
  return finished;
}

describe('signing', () => {
  const controllers = '--controllers=certificatesigningrequest-signing-controller';
  const pairs = (): string[] => [
    `--cluster-signing-kubelet-serving-cert-file=${path('ed25519.crt')}`,
    `--cluster-signing-kubelet-serving-key-file=${path('ed25519.key')}`,
    `--cluster-signing-kubelet-client-cert-file=${path('rsa.crt')}`,
    `--cluster-signing-kubelet-client-key-file=${path('rsa.key')}`,
    `--cluster-signing-kube-apiserver-client-cert-file=${cluster().files.ca}`,
    `--cluster-signing-kube-apiserver-client-key-file=${cluster().files.caKey}`,
    `--cluster-signing-legacy-unknown-cert-file=${path('p384.crt')}`,
    `--cluster-signing-legacy-unknown-key-file=${path('p384.key')}`,
    '--cluster-signing-duration=240h',
  ];
  const noCommonPair = ['--cluster-signing-cert-file=', '--cluster-signing-key-file='];

  beforeAll(async () => {
    await createAuthorityFiles('rsa', ['rsa:2048']);
    await createAuthorityFiles('p384', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384']);
    await createAuthorityFiles('ed25519', ['ed25519']);
  });

  test('issues the same certificates and refusals as the Go manager, and openssl verifies them', async ({ signal }) => {
    const cases = await createCases();
    await using manager = await startManager(cluster(), [...baseFlags, controllers, ...pairs()]);
    const ours = await play('ours', cases, signal);
    expect((await manager.get('/metrics')).body).toMatch(/workqueue_adds_total\{name="certificate"\} [1-9]/);
    expect(await manager.stop()).toBe(0);
    const { process } = await startGoControllerManager(cluster(), [
      ...baseFlags,
      controllers,
      ...noCommonPair,
      ...pairs(),
    ]);
    const go = await play('go', cases, signal);
    await process.stop();

    for (const { name, signerName } of cases) {
      const [mine, theirs] = [ours.get(name), go.get(name)];
      if (mine === undefined || theirs === undefined) throw new Error(`no outcome for ${name}`);
      expect({ name, conditions: conditionsOf(mine) }).toEqual({ name, conditions: conditionsOf(theirs) });
      expect({ name, fields: describeCertificate(certificateOf(mine)) }).toEqual({
        name,
        fields: describeCertificate(certificateOf(theirs)),
      });
      if (certificateOf(mine) === '') continue;
      const authorities = { [kubeletClient.signerName]: path('rsa.crt'), [servingSigner]: path('ed25519.crt') };
      const trusted = authorities[signerName] ?? cluster().files.ca;
      writeFileSync(path('signed.crt'), certificateOf(mine));
      const { stdout } = await run('openssl', ['verify', '-x509_strict', '-CAfile', trusted, path('signed.crt')]);
      expect(stdout).toContain(': OK');
    }
    await expectLogin(
      cases.find(({ name }) => name === 'jane'),
      ours.get('jane'),
      signal,
    );
  });

  /** The API server authenticates the certificate as the user and the groups of the request. */
  async function expectLogin(
    made: Case | undefined,
    signed: CertificateSigningRequest | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (made === undefined || signed === undefined) throw new Error('nobody to log in');
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const user = {
      'client-certificate-data': base64(certificateOf(signed)),
      'client-key-data': base64(made.request.privateKey),
    };
    const config = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server: cluster().url, 'certificate-authority': cluster().files.ca } }],
      users: [{ name: 'x', user }],
    };
    writeFileSync(path('signed.conf'), JSON.stringify(config), { mode: 0o600 });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await (await clientOf(path('signed.conf'))).request({ method: 'POST', path: reviews, body }, signal);
    const review = z.object({
      status: z.object({ userInfo: z.object({ username: z.string(), groups: z.array(z.string()) }) }),
    });
    const { username, groups } = review.parse(answer).status.userInfo;
    expect(username).toBe('jane');
    expect(groups.toSorted()).toEqual(['dev', 'ops', 'system:authenticated']);
  }

  test('uses a new CA without a restart, and issues no certificate that outlives it', async ({ signal }) => {
    copyFileSync(path('rsa.crt'), path('ca.crt'));
    copyFileSync(path('rsa.key'), path('ca.key'));
    await using manager = await startManager(cluster(), [
      ...baseFlags,
      controllers,
      `--cluster-signing-cert-file=${path('ca.crt')}`,
      `--cluster-signing-key-file=${path('ca.key')}`,
    ]);
    const node = await createRequest(nodeSubject('c'));
    const sign = async (name: string): Promise<X509Certificate> => {
      const outcome = await play(name, [{ name: 'node', request: node, ...kubeletClient }], signal);
      const [signed] = outcome.values();
      if (signed === undefined) throw new Error('nothing was signed');
      return new X509Certificate(certificateOf(signed));
    };
    const rsa = new X509Certificate((await run('cat', [path('rsa.crt')])).stdout);
    const first = await sign('first');
    expect(first.checkIssued(rsa)).toBe(true);
    expect(first.validToDate).toEqual(rsa.validToDate); // a year by default, and the CA expires in 100 days
    copyFileSync(path('p384.crt'), path('ca.crt'));
    copyFileSync(path('p384.key'), path('ca.key'));
    const p384 = new X509Certificate((await run('cat', [path('p384.crt')])).stdout);
    expect((await sign('second')).checkIssued(p384)).toBe(true);
    expect(await manager.stop()).toBe(0);
  });
});

describe('approving', () => {
  const controllers = '--controllers=certificatesigningrequest-approving-controller';
  const joining: Identity = { user: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
  const node: Identity = { user: 'system:node:a', groups: ['system:nodes'] };
  const stranger: Identity = { user: 'stranger', groups: ['strangers'] };

  /** As in kubeadm. */
  async function allowRequests(signal: AbortSignal): Promise<void> {
    const rules = [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
    ];
    await client.create(ClusterRoles, { metadata: { name: 'ask' }, rules }, signal);
    const part = 'system:certificates.k8s.io:certificatesigningrequests';
    const bindings = [
      ['ask', ['system:bootstrappers', 'system:nodes', 'strangers']],
      [`${part}:nodeclient`, ['system:bootstrappers']],
      [`${part}:selfnodeclient`, ['system:nodes']],
    ] as const;
    for (const [role, groups] of bindings) {
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
      const subjects = groups.map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name }));
      await client.create(ClusterRoleBindings, { metadata: { name: `test:${role}` }, roleRef, subjects }, signal);
    }
  }

  async function playApprovals(prefix: string, requests: Record<'a' | 'server', KeyedRequest>, signal: AbortSignal) {
    const ask = async (name: string, as: Identity, request: KeyedRequest): Promise<void> =>
      createSigningRequest(await clientAs(as), `${prefix}-${name}`, request, { ...kubeletClient, signal });
    if (!isSandbox) await ask('stranger', stranger, requests.a); // the sandbox has no authorization
    await ask('with-names', joining, requests.server);
    await ask('first', joining, requests.a);
    await ask('renewed', node, requests.a);
    const conditions = async (name: string): Promise<unknown> =>
      conditionsOf(await client.get(CertificateSigningRequests, objectKey(undefined, `${prefix}-${name}`), signal));
    for (const name of ['first', 'renewed']) {
      await eventually(async () => (await conditions(name)) !== undefined, signal);
    }
    const { items } = await client.listAll(CertificateSigningRequests, {}, signal);
    return items
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map((item) => ({ name: item.metadata.name.slice(prefix.length), conditions: conditionsOf(item) }));
  }

  test('approves permitted requests of kubelets, as the Go manager does', async ({ signal }) => {
    await allowRequests(signal);
    const requests = {
      a: await createRequest(nodeSubject('a')),
      server: await createRequest(nodeSubject('a'), [{ type: 'dns', value: 'a' }]),
    };
    await using manager = await startManager(cluster(), [...baseFlags, controllers]);
    const ours = await playApprovals('ours-approve', requests, signal);
    expect(await manager.stop()).toBe(0);
    const { process } = await startGoControllerManager(cluster(), [...baseFlags, controllers]);
    const go = await playApprovals('go-approve', requests, signal);
    await process.stop();
    expect(ours).toEqual(go);
    expect(ours.filter(({ conditions }) => conditions !== undefined).map(({ name }) => name)).toEqual([
      '-first',
      '-renewed',
    ]);
  });
});

describe('cleaning up', () => {
  test('deletes requests that were decided long ago, and expired ones', async ({ signal }) => {
    const request = await createRequest([{ CN: ['x'] }]);
    const ago = (hours: number): string => formatTime(Date.now() - hours * 3_600_000);
    const create = (name: string): Promise<void> =>
      createSigningRequest(client, name, request, { signerName: 'example.com/x', usages: ['client auth'], signal });
    const issue = async (name: string, untilMs: number): Promise<void> => {
      const key = objectKey(undefined, name);
      const held = await client.get(CertificateSigningRequests, key, signal);
      const validity = { fromMs: Date.now() - 7_200_000, untilMs };
      const { certificate } = createSelfSigned({ commonName: 'x', usages: ['client'], validity });
      const status = { ...held.status, certificate: Buffer.from(certificate).toString('base64') };
      await client.updateStatus(CertificateSigningRequests, { ...held, status }, signal);
    };
    const later = Date.now() + 3_600_000;
    const names = ['pending', 'denied', 'denied-long', 'issued', 'issued-long', 'expired', 'unissued', 'unissued-long'];
    for (const name of names) await create(`clean-${name}`);
    await decide(client, 'clean-denied', { type: 'Denied' }, signal);
    await decide(client, 'clean-denied-long', { type: 'Denied', lastUpdateTime: ago(2) }, signal);
    await approve(client, 'clean-issued', signal);
    await issue('clean-issued', later);
    await approve(client, 'clean-issued-long', signal, ago(2));
    await issue('clean-issued-long', later);
    await approve(client, 'clean-expired', signal);
    await issue('clean-expired', Date.now() - 60_000);
    await approve(client, 'clean-unissued', signal, ago(2));
    await approve(client, 'clean-unissued-long', signal, ago(25));

    await using manager = await startManager(cluster(), [
      ...baseFlags,
      '--controllers=certificatesigningrequest-cleaner-controller',
    ]);
    const kept = ['clean-denied', 'clean-issued', 'clean-pending', 'clean-unissued'];
    await eventually(async () => {
      const { items } = await client.listAll(CertificateSigningRequests, {}, signal);
      const left = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('clean-'));
      return JSON.stringify(left.toSorted()) === JSON.stringify(kept);
    }, signal);
    expect(await manager.stop()).toBe(0);
  });
});
