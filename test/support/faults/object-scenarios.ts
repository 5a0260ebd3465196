import { setTimeout as sleep } from 'node:timers/promises';

import {
  ClusterRoles,
  ConfigMaps,
  keyOf,
  Namespaces,
  objectKey,
  parseTime,
  Pods,
  ResourceQuotas,
  Secrets,
  ServiceAccounts,
  Services,
  type ClusterRole,
  type ConfigMap,
} from '../../../pkg/api/index.ts';
import { isNotFound } from '../../../pkg/client/index.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { eventually } from '../eventually.ts';
import { exists, referenceTo, untilSeen } from '../owner-graph-objects.ts';
import { QuotaUser } from '../quota-user.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

/** A namespace with a few objects is deleted. */
const namespaceScenario: FaultScenario = {
  controller: 'namespace-controller',
  kinds: [Namespaces, ConfigMaps, Pods, Services, ServiceAccounts],
  async act({ client, namespace, signal }) {
    const spec = { containers: [{ name: 'main', image: 'example' }], terminationGracePeriodSeconds: 1 };
    await client.create(ConfigMaps, { metadata: { namespace, name: 'settings' } }, signal);
    await client.create(Services, { metadata: { namespace, name: 'web' }, spec: { ports: [{ port: 80 }] } }, signal);
    await client.create(Pods, { metadata: { namespace, name: 'web' }, spec }, signal);
    await client.delete(Namespaces, objectKey(undefined, namespace), {}, signal);
    await eventually(async () => !(await exists(client, Namespaces, objectKey(undefined, namespace), signal)), signal);
  },
};

/** The default service account and root certificates are created again after each loss. */
const serviceAccount: FaultScenario = {
  controller: 'serviceaccount-controller',
  kinds: [ServiceAccounts],
  isBare: true,
  async act({ client, namespace, signal }) {
    const key = objectKey(namespace, 'default');
    const { metadata } = await eventually(() => client.get(ServiceAccounts, key, signal), signal);
    await client.delete(ServiceAccounts, key, {}, signal);
    await eventually(async () => {
      return (await client.get(ServiceAccounts, key, signal)).metadata.uid !== metadata.uid;
    }, signal);
  },
};

const rootCaPublisher: FaultScenario = {
  controller: 'root-ca-certificate-publisher-controller',
  flags: ({ files }) => [`--root-ca-file=${files.ca}`],
  kinds: [ConfigMaps],
  async act({ client, namespace, signal }) {
    const key = objectKey(namespace, 'kube-root-ca.crt');
    const isPublished = async (): Promise<boolean> => {
      const { data } = await client.get(ConfigMaps, key, signal);
      return data?.['ca.crt'] !== 'other';
    };
    await eventually(isPublished, signal);
    await client.patch(ConfigMaps, key, { type: 'merge', body: { data: { 'ca.crt': 'other' } } }, signal);
    await eventually(isPublished, signal);
  },
};

const keyFlags = ({ files }: ClusterAccess): string[] => [
  `--root-ca-file=${files.ca}`,
  `--service-account-private-key-file=${files.serviceAccountKey}`,
];

const createToken = ({ client, namespace, signal }: FaultStage, name: string, fields: object = {}) =>
  client.create(
    Secrets,
    {
      type: 'kubernetes.io/service-account-token',
      metadata: { namespace, name, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      ...fields,
    },
    signal,
  );

const isGone = async ({ client, namespace, signal }: FaultStage, name: string): Promise<boolean> =>
  !(await exists(client, Secrets, objectKey(namespace, name), signal));

/**
 * A token is created, its Secret and the account's reference to it are deleted, and the last token is deleted with the
 * account.
 */
const serviceAccountToken: FaultScenario = {
  controller: 'serviceaccount-token-controller',
  flags: keyFlags,
  kinds: [Secrets, ServiceAccounts],
  async act(stage) {
    const { client, namespace, signal } = stage;
    const secrets = ['first', 'lost'].map((name) => ({ name }));
    await client.create(ServiceAccounts, { metadata: { namespace, name: 'robot' }, secrets }, signal);
    const makeToken = async (name: string): Promise<void> => {
      await createToken(stage, name);
      await eventually(async () => {
        const { data } = await client.get(Secrets, objectKey(namespace, name), signal);
        return data?.['token'] !== undefined;
      }, signal);
    };
    await makeToken('first');
    // A Secret that is deleted while no manager runs leaves its reference behind, as with the Go binary: accounts may
    // refer to Secrets that do not exist yet. So the user tries again.
    for (let isReferenced = true; isReferenced;) {
      await makeToken('lost');
      await client.delete(Secrets, objectKey(namespace, 'lost'), {}, signal);
      for (let attempts = 0; isReferenced && attempts < 40; attempts++) {
        await sleep(50, undefined, { signal });
        const { secrets: left } = await client.get(ServiceAccounts, objectKey(namespace, 'robot'), signal);
        isReferenced = left?.some(({ name }) => name === 'lost') === true;
      }
    }
    await client.delete(ServiceAccounts, objectKey(namespace, 'robot'), {}, signal);
    await eventually(() => isGone(stage, 'first'), signal);
  },
};

/** Two unused tokens: one is marked, and one, which was marked long ago, is deleted. */
const legacyTokenCleaner: FaultScenario = {
  controller: 'legacy-serviceaccount-token-cleaner-controller',
  flags: () => ['--legacy-service-account-token-clean-up-period=1s'],
  kinds: [Secrets, ServiceAccounts],
  looksAtStart: true,
  async act(stage) {
    const { client, namespace, signal } = stage;
    const tracking = objectKey('kube-system', 'kube-apiserver-legacy-service-account-token-tracking');
    const body = { data: { since: '2020-01-01' } };
    await eventually(() => client.patch(ConfigMaps, tracking, { type: 'merge', body }, signal), signal);
    const secrets = ['unused', 'invalid'].map((name) => ({ name }));
    await client.create(ServiceAccounts, { metadata: { namespace, name: 'robot' }, secrets }, signal);
    const data = { token: 'eA==' };
    await createToken(stage, 'invalid', { data });
    const labels = { 'kubernetes.io/legacy-token-invalid-since': '2020-01-01' };
    const key = objectKey(namespace, 'invalid');
    await client.patch(Secrets, key, { type: 'merge', body: { metadata: { labels } } }, signal);
    const { metadata } = await createToken(stage, 'unused', { data });
    await eventually(async () => Date.now() - (parseTime(metadata.creationTimestamp) ?? Infinity) > 3000, signal);
  },
};

/** Owners that are deleted with each of the three policies. */
const garbageCollector: FaultScenario = {
  controller: 'garbage-collector-controller',
  kinds: [ConfigMaps],
  async act({ client, namespace, signal }) {
    const create = (name: string, owner?: ConfigMap): Promise<ConfigMap> => {
      const reference = owner && referenceTo(ConfigMaps, owner, { blockOwnerDeletion: true });
      const metadata = { namespace, name, ...(reference && { ownerReferences: [reference] }) };
      return client.create(ConfigMaps, { metadata }, signal);
    };
    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
      const name = propagationPolicy.toLowerCase();
      const owner = await create(name);
      for (const number of [1, 2]) await create(`${name}-${number}`, owner);
      await untilSeen(client, ConfigMaps, namespace, signal);
      await client.delete(ConfigMaps, keyOf(owner), { propagationPolicy }, signal);
      const dependent = objectKey(namespace, `${name}-1`);
      await eventually(async () => {
        if (await exists(client, ConfigMaps, keyOf(owner), signal)) return false;
        try {
          return (await client.get(ConfigMaps, dependent, signal)).metadata.ownerReferences === undefined;
        } catch (error) {
          if (isNotFound(error)) return true;
          throw error;
        }
      }, signal);
    }
  },
};

/** A role that aggregates two others, one of which changes and is then deleted. */
const clusterRoleAggregation: FaultScenario = {
  controller: 'clusterrole-aggregation-controller',
  kinds: [ClusterRoles],
  async act({ client, namespace, signal }) {
    const labels = { trial: namespace };
    const rule = (resource: string): object => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
    const create = (part: string, fields: Partial<ClusterRole>, metadata: object = {}): Promise<unknown> =>
      client.create(ClusterRoles, { metadata: { name: `${namespace}-${part}`, ...metadata }, ...fields }, signal);
    const key = objectKey(undefined, `${namespace}-reader`);
    const untilRules = (count: number): Promise<unknown> =>
      eventually(async () => ((await client.get(ClusterRoles, key, signal)).rules ?? []).length === count, signal);
    await create('reader', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] } });
    await create('a', { rules: [rule('pods')] } as Partial<ClusterRole>, { labels });
    await create('b', { rules: [rule('nodes'), rule('services')] } as Partial<ClusterRole>, { labels });
    await untilRules(3);
    await client.delete(ClusterRoles, objectKey(undefined, `${namespace}-a`), {}, signal);
    await untilRules(2);
  },
};

/** A quota whose limits change while objects come and go. */
const resourceQuota: FaultScenario = {
  controller: 'resourcequota-controller',
  kinds: [ResourceQuotas],
  async act({ client, namespace, signal }) {
    const user = new QuotaUser(client, namespace, signal);
    await user.quota('limits', { configmaps: '5', pods: '5', 'requests.cpu': '2' });
    for (const name of ['a', 'b', 'c']) await user.configMap(name);
    await user.pod('worker', {}, { cpu: '250m' });
    await user.untilUsed('limits', { configmaps: '3', pods: '1', 'requests.cpu': '0.25' });
    await user.remove(ConfigMaps, 'a');
    await user.remove(Pods, 'worker');
    await user.untilUsed('limits', { configmaps: '2', pods: '0', 'requests.cpu': '0' });
    await user.patch(ResourceQuotas, 'limits', { spec: { hard: { pods: null, secrets: '5' } } });
    await user.untilUsed('limits', { configmaps: '2', 'requests.cpu': '0', secrets: '0' });
  },
};

export const objectScenarios: readonly FaultScenario[] = [
  namespaceScenario,
  serviceAccountToken,
  serviceAccount,
  rootCaPublisher,
  legacyTokenCleaner,
  garbageCollector,
  clusterRoleAggregation,
  resourceQuota,
];
