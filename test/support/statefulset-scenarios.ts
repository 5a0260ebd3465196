import {
  ControllerRevisions,
  objectKey,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import { podSettingNames } from '../../pkg/hollow/index.ts';
import { eventually } from './eventually.ts';
import { seededRandom } from './random.ts';
import { claimSpec, claimTemplates, type StatefulSetUser } from './stateful-set-user.ts';

const neverReady = { [podSettingNames.neverReady]: 'true' };
const rolling = (rollingUpdate?: object): StatefulSet['spec']['updateStrategy'] => ({
  type: 'RollingUpdate',
  ...(rollingUpdate === undefined ? {} : { rollingUpdate }),
});

const scheduledBy = (schedulerName: string): object => ({ template: { spec: { schedulerName } } });

/** Scales down a set with claims. The owners of the claims decide what the garbage collector does with them. */
function retains(whenDeleted: string, whenScaled: string) {
  return async (user: StatefulSetUser, name: string): Promise<void> => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted, whenScaled };
    const volumeClaimTemplates = claimTemplates('data');
    await user.statefulSet(name, { replicas: 2, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy });
    await user.untilSettled(name, 2);
    await user.scaleTo(name, 1);
    await user.untilSettled(name, 1);
  };
}

/** One behaviour each, on separate objects of the same name. */
const scenarios: Readonly<Record<string, (user: StatefulSetUser, name: string) => Promise<unknown>>> = {
  async ordered(user, name) {
    await user.statefulSet(name, { replicas: 2 });
    await user.untilSettled(name, 2);
    await user.scaleTo(name, 4);
    await user.untilSettled(name, 4);
    await user.scaleTo(name, 1);
    return user.untilSettled(name, 1);
  },

  async parallel(user, name) {
    await user.statefulSet(name, { replicas: 4, podManagementPolicy: 'Parallel' });
    await user.untilSettled(name, 4);
    await user.update(name, 'two');
    await user.untilSettled(name, 4);
    await user.scaleTo(name, 1);
    return user.untilSettled(name, 1);
  },

  async 'without-pods'(user, name) {
    await user.statefulSet(name, { replicas: 0 });
    return user.untilSettled(name, 0);
  },

  async 'start-ordinal'(user, name) {
    await user.statefulSet(name, { replicas: 2, ordinals: { start: 5 } });
    await user.untilSettled(name, 2);
    await user.change(name, { ordinals: { start: 6 } });
    return user.untilSettled(name, 2);
  },

  'retain-retain': retains('Retain', 'Retain'),
  'retain-delete': retains('Retain', 'Delete'),
  'delete-retain': retains('Delete', 'Retain'),
  'delete-delete': retains('Delete', 'Delete'),

  async 'policy-changed'(user, name) {
    const volumeClaimTemplates = claimTemplates('data');
    await user.statefulSet(name, { replicas: 2, volumeClaimTemplates });
    await user.untilSettled(name, 2);
    await user.change(name, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } });
    return eventually(async () => {
      const claims = await user.claims(name);
      return claims.every(({ metadata }) => metadata.ownerReferences?.length === 1);
    }, user.signal);
  },

  async 'claim-of-others'(user, name) {
    const controller = { apiVersion: 'example.com/v1', kind: 'Other', name: 'other', uid: 'other', controller: true };
    const metadata = { namespace: user.namespace, name: `data-${name}-0`, ownerReferences: [controller] };
    await user.client.create(PersistentVolumeClaims, { metadata, spec: claimSpec }, user.signal);
    await user.statefulSet(name, {
      replicas: 1,
      volumeClaimTemplates: claimTemplates('data'),
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    });
    return user.untilSettled(name, 1);
  },

  async 'claim-deleted'(user, name) {
    await user.statefulSet(name, {
      replicas: 1,
      volumeClaimTemplates: claimTemplates('data'),
      annotations: { [podSettingNames.neverStart]: 'true' },
    });
    const claimName = `data-${name}-0`;
    const { metadata } = await user.until(PersistentVolumeClaims, claimName, () => true);
    await user.until(StatefulSets, name, ({ status }) => status?.replicas === 1);
    await user.deleteClaim(claimName);
    // Only our controller watches claims: the Go one needs another event.
    await user.patch(StatefulSets, name, { metadata: { labels: { told: 'yes' } } });
    return user.until(PersistentVolumeClaims, claimName, (claim) => claim.metadata.uid !== metadata.uid);
  },

  async 'claim-left-over'(user, name) {
    await user.statefulSet(name, {
      replicas: 2,
      volumeClaimTemplates: claimTemplates('data'),
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
    });
    await user.untilSettled(name, 2);
    await user.scaleTo(name, 1);
    await user.untilSettled(name, 1);
    await user.scaleTo(name, 2); // the claim of the deleted pod must be deleted before the second pod is created
    await user.until(StatefulSets, name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
    await user.deleteClaim(`data-${name}-1`);
    await user.patch(StatefulSets, name, { metadata: { labels: { told: 'yes' } } });
    return user.untilSettled(name, 2);
  },

  async updated(user, name) {
    await user.statefulSet(name, { replicas: 3 });
    await user.untilSettled(name, 3);
    await user.update(name, 'two');
    return user.untilSettled(name, 3);
  },

  async 'updated-without-settings'(user, name) {
    await user.statefulSet(name, { replicas: 4, updateStrategy: rolling() });
    await user.untilSettled(name, 4);
    await user.update(name, 'two');
    return user.untilSettled(name, 4);
  },

  async 'odd-template'(user, name) {
    const annotations = { '10': '<a & b>', '9': 'line\u2028separator', constructor: 'é "quoted" \\ \t', empty: '' };
    await user.statefulSet(name, { replicas: 1, annotations });
    await user.untilSettled(name, 1);
    const env = [{ name: 'HTML', value: '<p>&amp;</p>' }];
    const containers = [{ name: 'main', image: 'two', env }];
    await user.change(name, {
      template: { spec: { containers, terminationGracePeriodSeconds: 7 } },
    });
    return user.untilSettled(name, 1);
  },

  async partition(user, name) {
    await user.statefulSet(name, { replicas: 3, updateStrategy: rolling({ partition: 2 }) });
    await user.untilSettled(name, 3);
    await user.update(name, 'two');
    await user.untilSettled(name, 3, { updated: 1 });
    await user.replacePod(`${name}-0`); // back at the current revision
    await user.untilSettled(name, 3, { updated: 1 });
    await user.change(name, { updateStrategy: { rollingUpdate: { partition: 1 } } });
    return user.untilSettled(name, 3, { updated: 2 });
  },

  async 'on-delete'(user, name) {
    await user.statefulSet(name, { replicas: 2, updateStrategy: { type: 'OnDelete' } });
    await user.untilSettled(name, 2);
    await user.update(name, 'two');
    await user.untilSettled(name, 2, { updated: 0 });
    await user.replacePod(`${name}-1`);
    return user.untilSettled(name, 2, { updated: 1 });
  },

  async 'min-ready-seconds'(user, name) {
    await user.statefulSet(name, { replicas: 2, minReadySeconds: 2 });
    await user.until(StatefulSets, name, ({ status }) => status?.readyReplicas === 1 && !status.availableReplicas);
    return user.untilSettled(name, 2);
  },

  async 'replaces-deleted'(user, name) {
    await user.statefulSet(name, { replicas: 3 });
    await user.untilSettled(name, 3);
    await user.replacePod(`${name}-1`);
    return user.untilSettled(name, 3);
  },

  async 'replaces-failed'(user, name) {
    await user.statefulSet(name, { replicas: 2 });
    await user.untilSettled(name, 2);
    await user.end(`${name}-0`, 'Failed');
    return user.untilSettled(name, 2);
  },

  async 'replaces-succeeded'(user, name) {
    await user.statefulSet(name, { replicas: 2, podManagementPolicy: 'Parallel' });
    await user.untilSettled(name, 2);
    await user.end(`${name}-1`, 'Succeeded');
    return user.untilSettled(name, 2);
  },

  async 'never-ready'(user, name) {
    await user.statefulSet(name, { replicas: 2, annotations: neverReady });
    return user.until(StatefulSets, name, ({ status }) => status?.replicas === 1 && status.readyReplicas === undefined);
  },

  /** A bad revision breaks a pod. In order, the set waits for it even after the revision is good again. */
  async 'broken-in-order'(user, name) {
    await user.statefulSet(name, { replicas: 1 });
    await user.untilSettled(name, 1);
    await user.update(name, 'bad', neverReady);
    await user.until(StatefulSets, name, ({ status }) => status?.updatedReplicas === 1 && !status.readyReplicas);
    await user.update(name, 'good', { [podSettingNames.neverReady]: null });
    await user.until(StatefulSets, name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
    await user.replacePod(`${name}-0`);
    return user.untilSettled(name, 1);
  },

  async 'broken-in-parallel'(user, name) {
    await user.statefulSet(name, { replicas: 2, podManagementPolicy: 'Parallel' });
    await user.untilSettled(name, 2);
    await user.update(name, 'bad', neverReady);
    await user.until(StatefulSets, name, ({ status }) => status?.updatedReplicas === 1 && status.readyReplicas === 1);
    await user.update(name, 'good', { [podSettingNames.neverReady]: null });
    return user.untilSettled(name, 2);
  },

  /** Nobody schedules the pods of a bad revision. They are deleted at once: no kubelet has to stop them. */
  async 'unscheduled-in-order'(user, name) {
    await user.statefulSet(name, { replicas: 2 });
    await user.untilSettled(name, 2);
    await user.change(name, scheduledBy('nobody'));
    await user.until(StatefulSets, name, ({ status }) => status?.updatedReplicas === 1 && status.readyReplicas === 1);
    await user.change(name, scheduledBy('default-scheduler'));
    await user.until(StatefulSets, name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
    await user.replacePod(`${name}-1`);
    return user.untilSettled(name, 2);
  },

  async 'unscheduled-in-parallel'(user, name) {
    const podManagementPolicy = 'Parallel';
    await user.statefulSet(name, {
      replicas: 4,
      podManagementPolicy,
      updateStrategy: rolling(),
      schedulerName: 'nobody',
    });
    await user.until(StatefulSets, name, ({ status }) => status?.currentReplicas === 4);
    await user.change(name, scheduledBy('default-scheduler'));
    return user.untilSettled(name, 4);
  },

  async 'scales-down-past-unhealthy'(user, name) {
    await user.statefulSet(name, { replicas: 3 });
    await user.untilSettled(name, 3);
    await user.patch(Pods, `${name}-1`, { metadata: { annotations: neverReady } });
    await user.until(StatefulSets, name, ({ status }) => status?.readyReplicas === 2);
    await user.scaleTo(name, 1);
    return user.untilSettled(name, 1);
  },

  async undone(user, name) {
    await user.statefulSet(name, { replicas: 1 });
    await user.untilSettled(name, 1);
    await user.update(name, 'two');
    await user.untilSettled(name, 1);
    await user.update(name, 'one');
    return user.untilSettled(name, 1);
  },

  async 'short-history'(user, name) {
    await user.statefulSet(name, { replicas: 1, revisionHistoryLimit: 1 });
    await user.untilSettled(name, 1);
    for (const image of ['two', 'three', 'four']) {
      await user.update(name, image);
      await user.untilSettled(name, 1);
    }
    return eventually(async () => (await user.revisions(name)).length === 2, user.signal);
  },

  async 'adopts-orphans'(user, name) {
    await user.pod(`${name}-0`, { app: name });
    await user.pod(`${name}-other`, { app: name }); // its name has no ordinal
    await user.until(Pods, `${name}-0`, ({ status }) => status?.phase === 'Running');
    await user.statefulSet(name, { replicas: 2, updateStrategy: { type: 'OnDelete' } });
    return user.untilSettled(name, 2, { updated: 1 });
  },

  async 'releases-relabelled'(user, name) {
    await user.statefulSet(name, { replicas: 2 });
    await user.untilSettled(name, 2);
    await user.patch(Pods, `${name}-1`, { metadata: { labels: { app: `${name}-no-more` } } });
    await user.until(Pods, `${name}-1`, ({ metadata }) => metadata.ownerReferences === undefined);
    return user.untilSettled(name, 1); // the name is in use
  },

  async 'fixes-labels'(user, name) {
    await user.statefulSet(name, { replicas: 1 });
    await user.untilSettled(name, 1);
    const label = 'statefulset.kubernetes.io/pod-name';
    await user.patch(Pods, `${name}-0`, { metadata: { labels: { [label]: null } } });
    return user.until(Pods, `${name}-0`, ({ metadata }) => metadata.labels?.[label] === `${name}-0`);
  },

  async refused(user, name) {
    await user.statefulSet(name, { replicas: 2, serviceAccountName: 'missing' });
    return user.until(StatefulSets, name, ({ metadata, status }) => status?.observedGeneration === metadata.generation);
  },

  async 'being-deleted'(user, name) {
    await user.statefulSet(name, { replicas: 2, finalizers: ['example.com/hold'] });
    await user.untilSettled(name, 2);
    await user.delete(StatefulSets, name);
    await user.delete(Pods, `${name}-0`);
    return user.until(StatefulSets, name, ({ status }) => status?.replicas === 1);
  },

  async 'older-revision'(user, name) {
    // The format of an earlier release of Kubernetes: with a null time, and without fields that have a default today.
    // Names are in Go's order: the server keeps the bytes of the data, and refuses a patch that would change them.
    const spec = { containers: [{ image: 'one', name: 'main', resources: {} }], terminationGracePeriodSeconds: 5 };
    const metadata = { creationTimestamp: null, labels: { app: name } };
    const data = { spec: { template: { $patch: 'replace', metadata, spec } } };
    const own = { namespace: user.namespace, name: `${name}-old`, labels: { app: name } };
    await user.client.create(ControllerRevisions, { metadata: own, revision: 1, data }, user.signal);
    // Revisions and sets have two watches. A manager that has observed the revision of a later set has observed this
    // one.
    await user.statefulSet(`${name}-seen`, { replicas: 1 });
    await user.untilSettled(`${name}-seen`, 1);
    await user.statefulSet(name, { replicas: 1 });
    return user.untilSettled(name, 1);
  },

  async 'revision-taken'(user, name) {
    // A revision of another owner has the name that the second one would get.
    await user.statefulSet(name, { replicas: 1 });
    await user.untilSettled(name, 1);
    await user.update(name, 'two');
    const { status } = await user.untilSettled(name, 1);
    const taken = objectKey(user.namespace, status?.updateRevision ?? '');
    const revision = await user.client.get(ControllerRevisions, taken, user.signal);
    await user.update(name, 'one');
    await user.untilSettled(name, 1);
    await user.delete(ControllerRevisions, revision.metadata.name);
    const { namespace } = user;
    const metadata = { namespace, name: revision.metadata.name };
    await user.client.create(ControllerRevisions, { metadata, revision: 7, data: { other: true } }, user.signal);
    await user.update(name, 'two');
    return user.untilSettled(name, 1);
  },
};

export async function runStatefulSetScenarios(user: StatefulSetUser): Promise<void> {
  await Promise.all(Object.entries(scenarios).map(([name, run]) => run(user, name)));
}

/** How many of two claims are left after the scale-down and deletion of a set with each retention policy. */
const claimsLeft = [
  { whenDeleted: 'Retain', whenScaled: 'Retain', left: 2 },
  { whenDeleted: 'Retain', whenScaled: 'Delete', left: 1 },
  { whenDeleted: 'Delete', whenScaled: 'Retain', left: 0 },
  { whenDeleted: 'Delete', whenScaled: 'Delete', left: 0 },
];

/** Deletes sets with claims. The garbage collector and the protection of claims must be running. */
export async function deleteWithClaims(user: StatefulSetUser): Promise<void> {
  const deleteSet = async ({ whenDeleted, whenScaled, left }: (typeof claimsLeft)[number]): Promise<void> => {
    const name = `${whenDeleted}-${whenScaled}`.toLowerCase();
    await retains(whenDeleted, whenScaled)(user, name);
    await user.delete(StatefulSets, name);
    await eventually(async () => (await user.pods(name)).length === 0, user.signal);
    const options = { namespace: user.namespace, labelSelector: `app=${name}` };
    await eventually(async () => {
      const { items } = await user.client.listAll(PersistentVolumeClaims, options, user.signal);
      return items.length === left;
    }, user.signal);
  };
  await Promise.all(claimsLeft.map(deleteSet));
}

/** Changes one set in random order, and waits only where two managers could otherwise observe different changes. */
export async function runAtRandom(user: StatefulSetUser, seed: number): Promise<void> {
  await Promise.all(
    [1, 2, 3, 4].map((offset) => changeAtRandom(user, `random-${offset}`, seededRandom(seed + offset))),
  );
}

async function changeAtRandom(user: StatefulSetUser, name: string, random: () => number): Promise<void> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const podManagementPolicy = below(2) === 0 ? 'Parallel' : 'OrderedReady';
  // Each template must be observed before the next one: otherwise a manager may have a revision fewer.
  const untilObserved = async (generation = 1): Promise<void> => {
    await user.until(StatefulSets, name, ({ status }) => (status?.observedGeneration ?? 0) >= generation);
  };
  await user.statefulSet(name, { replicas: 2, podManagementPolicy, volumeClaimTemplates: claimTemplates('data') });
  await untilObserved();
  let replicas = 2;
  const changes = [
    async (): Promise<void> => user.scaleTo(name, (replicas = 1 + below(4))),
    async (): Promise<void> => {
      const { metadata } = await user.update(name, `image-${below(3)}`);
      const isObserved = ({ status }: StatefulSet): boolean =>
        (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      await user.until(StatefulSets, name, isObserved); // otherwise there may be one revision less
    },
    async (): Promise<void> => void (await user.change(name, { minReadySeconds: below(2) })),
    async (): Promise<void> => {
      const [pod] = (await user.pods(name)).slice(below(2));
      if (pod !== undefined) await user.delete(Pods, pod.metadata.name).catch(() => undefined); // may be deleted
    },
  ];
  for (let count = 0; count < 12; count++) await changes[below(changes.length)]?.();
  await user.change(name, { minReadySeconds: 0 });
  await user.untilSettled(name, replicas);
}
