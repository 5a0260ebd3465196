import {
  CustomResourceDefinitions,
  Jobs,
  objectKey,
  PodGroups,
  Pods,
  StorageVersionMigrations,
  StorageVersions,
  ValidatingAdmissionPolicies,
  Workloads,
} from '../../../pkg/api/index.ts';
import { eventually } from '../eventually.ts';
import {
  migrationApis,
  migrationGates,
  storageVersionApis,
  storageVersionGates,
  workloadApis,
  workloadGates,
} from '../gated-apis.ts';
import { JobUser } from '../job-user.ts';
import { defineVersioned, migrate, storeAs, untilMigrated } from '../migrations.ts';
import { exists } from '../owner-graph-objects.ts';
import { policySpec, untilChecked } from '../policies.ts';
import { endServer, recordVersions, startServer, untilRecorded } from '../storage-versions.ts';
import type { FaultScenario } from './scenario.ts';

/** Two objects of a custom resource are migrated to another version, and then again. */
const migrator: FaultScenario = {
  controller: 'storage-version-migrator-controller',
  needs: migrationApis,
  flags: () => [migrationGates],
  kinds: [CustomResourceDefinitions, StorageVersionMigrations],
  ignore: ['StorageVersionMigration:status.resourceVersion'],
  async act({ client, namespace, signal }) {
    const user = { client, namespace };
    const widgets = await defineVersioned(user, 'widgets', ['a', 'b'], signal);
    await storeAs(user, widgets, 'v2', signal);
    const keys = [await migrate(user, 'first', widgets, signal), await migrate(user, 'second', widgets, signal)];
    for (const key of keys) await untilMigrated(user, key, signal);
  },
};

/** One of two servers goes, and then the other. */
const collector: FaultScenario = {
  controller: 'storageversion-garbage-collector-controller',
  needs: storageVersionApis,
  flags: () => [storageVersionGates],
  kinds: [StorageVersions],
  async act({ client, namespace, signal }) {
    const user = { client, namespace };
    for (const server of ['first', 'second', 'third']) await startServer(user, server, signal);
    await recordVersions(user, 'deployments', { first: 'apps/v1', second: 'apps/v2' }, signal);
    await recordVersions(user, 'jobs', { first: 'batch/v1', third: 'batch/v1' }, signal);
    await recordVersions(user, 'pods', { first: 'v1', unknown: 'v1' }, signal);
    await untilRecorded(user, 'pods', ['first'], signal);
    await endServer(user, 'first', signal);
    await untilRecorded(user, 'deployments', ['second'], signal);
    await untilRecorded(user, 'jobs', ['third'], signal);
    await endServer(user, 'third', signal);
    await untilRecorded(user, 'jobs', [], signal);
    await untilRecorded(user, 'pods', [], signal);
  },
};

/** A group goes at once, and another one with its pod. */
const podGroups: FaultScenario = {
  controller: 'podgroup-protection-controller',
  needs: workloadApis,
  flags: () => [workloadGates],
  kinds: [PodGroups, Pods],
  async act({ client, namespace, signal }) {
    const untilGone = (name: string): Promise<unknown> =>
      eventually(async () => !(await exists(client, PodGroups, objectKey(namespace, name), signal)), signal);
    for (const name of ['kept', 'used', 'unused']) {
      const spec = { schedulingPolicy: { basic: {} } };
      await client.create(PodGroups, { metadata: { namespace, name }, spec }, signal);
    }
    const member = {
      containers: [{ name: 'main', image: 'example' }],
      schedulingGroup: { podGroupName: 'used' },
      nodeName: 'elsewhere',
    };
    await client.create(Pods, { metadata: { namespace, name: 'member' }, spec: member }, signal);
    for (const name of ['used', 'unused']) await client.delete(PodGroups, objectKey(namespace, name), {}, signal);
    await untilGone('unused');
    await client.delete(Pods, objectKey(namespace, 'member'), { gracePeriodSeconds: 0 }, signal);
    await untilGone('used');
  },
};

/** A Job whose pods are scheduled together. */
const gang: FaultScenario = {
  controller: 'job-controller',
  about: 'with a gang',
  needs: workloadApis,
  flags: () => [workloadGates],
  kinds: [Jobs, Pods, Workloads, PodGroups],
  async act({ client, namespace, signal }) {
    const user = new JobUser(client, namespace, signal);
    await user.create('gang', { completions: 2, parallelism: 2, completionMode: 'Indexed' });
    for (const index of [0, 1]) await user.finish(await user.running('gang', index), 0);
    await user.untilOver('gang');
  },
};

/**
 * Two policies are checked, and one of them again after it was corrected in part. Without any warning left, the server
 * drops `typeChecking` at the first apply and keeps it empty at the second, so the end would depend on repeated requests.
 */
const policies: FaultScenario = {
  controller: 'validatingadmissionpolicy-status-controller',
  needs: {}, // the sandbox does not serve policies
  kinds: [ValidatingAdmissionPolicies],
  async act({ client, namespace, signal }) {
    const create = async (part: string, expression: string): Promise<string> => {
      const name = `${namespace}-${part}`;
      const spec = policySpec({ group: 'apps', resources: ['deployments'], expressions: [expression] });
      await client.create(ValidatingAdmissionPolicies, { metadata: { name }, spec }, signal);
      await untilChecked(client, name, signal);
      return name;
    };
    await create('wrong', 'object.spec.wrong == 1');
    const corrected = await create('corrected', 'object.spec.wrong == 1 && object.spec.missing == 1');
    const { validations } = policySpec({ resources: [], expressions: ['object.spec.missing == 1'] });
    const patch = { type: 'merge', body: { spec: { validations } } } as const;
    await client.patch(ValidatingAdmissionPolicies, objectKey(undefined, corrected), patch, signal);
    await untilChecked(client, corrected, signal);
  },
};

export const apiScenarios: readonly FaultScenario[] = [migrator, collector, podGroups, gang, policies];
