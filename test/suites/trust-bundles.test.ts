import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ClusterTrustBundles, keyOf, PodCertificateRequests, type ClusterTrustBundle } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager, type Cluster, type ClusterAccess } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { certificateApis, certificateGates } from '../support/gated-apis.ts';
import { startManager } from '../support/manager.ts';
import { createPodRequest } from '../support/pod-certificate-requests.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import {
  createCa,
  createStrayBundle,
  disturbBundle,
  listBundles,
  untilPublished,
  type BundleUser,
} from '../support/trust-bundles.ts';
import { createNamespace, useCluster, useSharedCluster } from './use-cluster.ts';

const publisher = 'kube-apiserver-serving-clustertrustbundle-publisher-controller';
const cleaner = 'podcertificaterequest-cleaner-controller';
const baseFlags = ['--leader-elect=false', '--use-service-account-credentials=true', certificateGates];
const managers = ['ours', 'go'] as const;
type ManagerName = (typeof managers)[number];

const opened: ClientBuilder[] = [];
afterAll(() => opened.forEach((clients) => clients.close()));

async function open(cluster: ClusterAccess): Promise<Client> {
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  const options = { connection, clock: systemClock, userAgent: 'trust-bundles', keepManagedFields: true };
  const clients = new ClientBuilder(options);
  opened.push(clients);
  return clients.clientFor('trust-bundles');
}

interface Running {
  metrics(): Promise<string>;
  stop(): Promise<unknown>;
}

async function start(name: ManagerName, cluster: Cluster, flags: readonly string[]): Promise<Running> {
  const given = [...baseFlags, ...flags];
  if (name === 'ours') {
    const manager = await startManager(cluster, given);
    return { metrics: async () => String((await manager.get('/metrics')).body), stop: () => manager.stop() };
  }
  const { process, url } = await startGoControllerManager(cluster, given);
  const path = `${url}/metrics`;
  return { metrics: async () => String((await cluster.request({ path })).body), stop: () => process.stop() };
}

/** Everything about a bundle but what is new each time. */
function stateOf({ metadata, spec }: ClusterTrustBundle): unknown {
  const { name, labels, annotations, finalizers, generation } = metadata;
  const managedFields = metadata.managedFields
    ?.map(({ time: _time, ...rest }) => rest)
    .toSorted((a, b) => String(a.manager).localeCompare(String(b.manager)));
  return { name, labels, annotations, finalizers, generation, spec, managedFields };
}

/** The two metrics of the publisher: types, codes and buckets, not how often and how long. */
function metricsOf(text: string): unknown {
  const families = [...parsePrometheusText(text).values()];
  return families
    .filter(({ name }) => name.startsWith('clustertrustbundle_publisher_'))
    .map(({ name, type, samples }) => ({
      name,
      type,
      series: samples
        .filter(({ labels }) => labels['code'] === '200')
        .map((sample) => `${sample.name} ${'le' in sample.labels ? Number(sample.labels['le']) : ''}`)
        .toSorted(),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

interface Outcome {
  readonly states: readonly unknown[];
  readonly metrics: unknown;
}

interface Stage {
  readonly cluster: Cluster;
  readonly user: BundleUser;
  /** The certificates to publish after a restart. */
  readonly next: string;
}

/** A manager finds the bundle of another CA, has its own disturbed, and is started again with the next certificates. */
async function publish(name: ManagerName, { cluster, user, next }: Stage, signal: AbortSignal): Promise<Outcome> {
  const { client, kind = ClusterTrustBundles } = user;
  for (const bundle of await listBundles(user, signal)) await client.delete(kind, keyOf(bundle), {}, signal);
  await createStrayBundle(user, createCa('former'), signal);
  const startWith = (file: string): Promise<Running> =>
    start(name, cluster, [`--controllers=${publisher}`, `--root-ca-file=${file}`]);
  const manager = await startWith(cluster.files.ca);
  const states = await disturbBundle(user, readFileSync(cluster.files.ca, 'utf8'), signal);
  const metrics = metricsOf(await manager.metrics());
  await manager.stop();
  const nextFile = join(cluster.directory, 'next-ca.crt');
  writeFileSync(nextFile, next);
  const successor = await startWith(nextFile);
  const replaced = await untilPublished(user, next, signal);
  await successor.stop();
  return { states: [...states, replaced].map(stateOf), metrics };
}

describe('a server with two versions of the API', () => {
  const { featureGates, runtimeConfig } = certificateApis;
  const cluster = useCluster({
    featureGates,
    runtimeConfig: { ...runtimeConfig, 'certificates.k8s.io/v1alpha1': true },
  });
  let user: BundleUser;

  beforeAll(async () => {
    user = { client: await open(cluster()) };
  });

  test('the CA certificates are published and kept in the beta version, as with the Go manager', async ({ signal }) => {
    const next = `# with a comment\n${createCa('next')}${createCa('next but one')}`;
    const stage = { cluster: cluster(), user, next };
    const ours = await publish('ours', stage, signal);
    expect(ours).toEqual(await publish('go', stage, signal));
    expect(JSON.stringify(ours.states)).toContain('certificates.k8s.io/v1beta1');
    expect(JSON.stringify(ours.states)).not.toContain('v1alpha1');
  });

  test('without --root-ca-file, those that verify the API server are published', async ({ signal }) => {
    const manager = await startManager(cluster(), [...baseFlags, `--controllers=${publisher}`]);
    await untilPublished(user, readFileSync(cluster().files.ca, 'utf8'), signal);
    expect(await manager.stop()).toBe(0);
  });

  for (const name of managers) {
    test(`requests of pods are deleted after 15 minutes: ${name}`, async ({ signal }) => {
      const namespace = await createNamespace(cluster(), name);
      const stage = { client: user.client, cluster: cluster(), namespace };
      await createPodRequest(stage, { name: 'old', minutes: 16 }, signal);
      await createPodRequest(stage, { name: 'very-old', minutes: 1600 }, signal);
      await createPodRequest(stage, { name: 'young', minutes: 12 }, signal);
      await createPodRequest(stage, { name: 'new', minutes: 0 }, signal);
      // The Go manager does not wait for its cache before the first look: without the interval it would find nothing.
      const flags = [`--controllers=${cleaner}`, '--controller-start-interval=1s'];
      const manager = await start(name, cluster(), flags);
      const left = async (): Promise<string[]> => {
        const { items } = await user.client.listAll(PodCertificateRequests, { namespace }, signal);
        return items.map(({ metadata }) => metadata.name).toSorted();
      };
      await eventually(async () => (await left()).length <= 2, signal);
      await manager.stop();
      expect(await left()).toEqual(['new', 'young']);
    });
  }
});

describe('a server with the alpha version only', () => {
  // Not the other gate: with it, kube-apiserver waits for PodCertificateRequests, which have no alpha version.
  const featureGates = { ClusterTrustBundle: true };
  const cluster = useCluster({ featureGates, runtimeConfig: { 'certificates.k8s.io/v1alpha1': true } });
  let user: BundleUser;

  beforeAll(async () => {
    user = { client: await open(cluster()), kind: { ...ClusterTrustBundles, version: 'v1alpha1' } };
  });

  test('the CA certificates are published in the alpha version, as with the Go manager', async ({ signal }) => {
    const stage = { cluster: cluster(), user, next: createCa('next') };
    const ours = await publish('ours', stage, signal);
    expect(ours).toEqual(await publish('go', stage, signal));
    expect(JSON.stringify(ours.states)).toContain('certificates.k8s.io/v1alpha1');
  });
});

test('a manager whose gates are on gets on without the APIs', async ({ signal }) => {
  const cluster = useSharedCluster();
  const manager = await startManager(cluster, [...baseFlags, `--controllers=${publisher},${cleaner}`]);
  await eventually(async () => manager.logs().includes('ClusterTrustBundles are not served'), signal);
  await eventually(async () => manager.logs().includes('PodCertificateRequests are not served'), signal);
  for (const path of ['/healthz', '/readyz']) expect((await manager.get(path)).status).toBe(200);
  expect(await manager.stop()).toBe(0);
});

test('a manager whose gates are off runs neither controller', async () => {
  const flags = ['--leader-elect=false', `--controllers=${publisher},${cleaner}`];
  const manager = await startManager(useSharedCluster(), flags);
  const { body } = await manager.get('/healthz?verbose');
  expect(String(body)).not.toMatch(/trustbundle|podcertificaterequest/);
  expect(await manager.stop()).toBe(0);
});
