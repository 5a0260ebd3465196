import {
  Nodes,
  isBeingDeleted,
  keyOf,
  objectKey,
  ownValue,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  VolumeAttachments,
  VolumeAttributesClasses,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type PersistentVolumeClaim,
} from '../../../pkg/api/index.ts';
import { attachAndDetach } from '../attach-scenarios.ts';
import { AttachUser } from '../attach-user.ts';
import { isNotFound, type Client } from '../../../pkg/client/index.ts';
import { BinderUser, provisioner } from '../binder-scenarios.ts';
import { eventually } from '../eventually.ts';
import { createGrowing, growClaim, untilResizer } from '../expand-scenarios.ts';
import { exists } from '../owner-graph-objects.ts';
import { claimSpec } from '../stateful-set-user.ts';
import { attributesClass, ephemeralVolume, volumeSpec } from '../volume-user.ts';
import { createDefaultAccount } from './default-account.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

/** A user takes the finalizer of an object, and it comes back. */
async function takeFinalizer({ client, signal }: FaultStage, kind: Kind, key: ObjectKey): Promise<void> {
  await client.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } }, signal);
  await eventually(async () => (await client.get(kind, key, signal)).metadata.finalizers?.length === 1, signal);
}

async function untilGone({ client, signal }: FaultStage, kind: Kind, key: ObjectKey): Promise<void> {
  await eventually(async () => !(await exists(client, kind, key, signal)), signal);
}

/** A claim loses its finalizer, another one stays for its pod, and goes after it. */
const claimProtection: FaultScenario = {
  controller: 'persistentvolumeclaim-protection-controller',
  kinds: [PersistentVolumeClaims],
  async act(stage) {
    const { client, namespace, signal } = stage;
    const [kept, used] = [objectKey(namespace, 'kept'), objectKey(namespace, 'used')];
    for (const name of ['kept', 'used']) {
      await client.create(PersistentVolumeClaims, { metadata: { namespace, name }, spec: claimSpec }, signal);
    }
    await takeFinalizer(stage, PersistentVolumeClaims, kept);
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'used' } }];
    const spec = { containers: [{ name: 'main', image: 'example' }], volumes, nodeName: 'elsewhere' };
    await client.create(Pods, { metadata: { namespace, name: 'user' }, spec }, signal);
    await client.delete(PersistentVolumeClaims, used, {}, signal);
    await client.delete(Pods, objectKey(namespace, 'user'), { gracePeriodSeconds: 0 }, signal);
    await untilGone(stage, PersistentVolumeClaims, used);
  },
};

/** Claims for two volumes of a pod, one of which is deleted and made again. */
const ephemeralVolumes: FaultScenario = {
  controller: 'ephemeral-volume-controller',
  kinds: [PersistentVolumeClaims],
  async act(stage) {
    const { client, namespace, signal } = stage;
    const volumes = ['a', 'b'].map((name) => ephemeralVolume(name));
    const spec = { containers: [{ name: 'main', image: 'example' }], volumes, nodeName: 'elsewhere' };
    await client.create(Pods, { metadata: { namespace, name: 'user' }, spec }, signal);
    const [first, second] = [objectKey(namespace, 'user-a'), objectKey(namespace, 'user-b')];
    await eventually(() => exists(client, PersistentVolumeClaims, second, signal), signal);
    const { metadata } = await client.get(PersistentVolumeClaims, first, signal);
    await client.delete(PersistentVolumeClaims, first, {}, signal);
    const body = { metadata: { finalizers: null } };
    await client.patch(PersistentVolumeClaims, first, { type: 'merge', body }, signal);
    await eventually(async () => {
      return (await client.get(PersistentVolumeClaims, first, signal)).metadata.uid !== metadata.uid;
    }, signal);
  },
};

/** An object outside namespaces loses its finalizer, and another one goes. */
function protect<T extends KubeObject>(controller: string, kind: Kind<T>, fields: Omit<T, 'metadata'>): FaultScenario {
  return {
    controller,
    kinds: [kind],
    async act(stage) {
      const { client, namespace, signal } = stage;
      const create = async (part: string): Promise<ObjectKey> => {
        const name = `${namespace}-${part}`;
        await client.create(kind, { metadata: { name }, ...fields }, signal);
        return objectKey(undefined, name);
      };
      await takeFinalizer(stage, kind, await create('kept'));
      const unused = await create('unused');
      await client.delete(kind, unused, {}, signal);
      await untilGone(stage, kind, unused);
    },
  };
}

const volumeProtection = protect('persistentvolume-protection-controller', PersistentVolumes, { spec: volumeSpec });
const attributesClassProtection = protect(
  'volumeattributesclass-protection-controller',
  VolumeAttributesClasses,
  attributesClass,
);

/** One volume is attached and detached, another one stays. */
const attachDetach: FaultScenario = {
  controller: 'persistentvolume-attach-detach-controller',
  kinds: [Nodes, Pods],
  isAlone: true, // the names of VolumeAttachments are hashes, from which no trial is recognised
  async act({ client, namespace, signal }) {
    const user = new AttachUser(client, namespace, signal);
    await attachAndDetach({ user, client, namespace, signal });
    await eventually(async () => {
      const { items } = await client.listAll(VolumeAttachments, {}, signal);
      const own = items.filter(({ spec }) => spec.nodeName.startsWith(namespace)).map(({ metadata }) => metadata.name);
      return own.join() === user.attachmentName('kept', 'node');
    }, signal);
  },
};

/** Claims are bound to a volume that fits and to one that is made for them, and their volumes are reclaimed. */
const binder: FaultScenario = {
  controller: 'persistentvolume-binder-controller',
  // A claim that finds no volume looks again at the next sync. Provisioning that failed is tried again then, too.
  flags: () => ['--pvclaimbinder-sync-period=1s', '--enable-hostpath-provisioner=true'],
  kinds: [PersistentVolumeClaims, PersistentVolumes],
  ignore: ['PersistentVolume:spec.claimRef.resourceVersion'],
  isAlone: true, // a binder serves the volumes of every trial
  async act({ client, namespace, signal }) {
    const user = new BinderUser(client, namespace, signal);
    await user.storageClass('made', {});
    await user.storageClass('host', { provisioner: 'kubernetes.io/host-path' });
    await user.volume('fit', '1Gi');
    await user.volume('gone', '2Gi', { persistentVolumeReclaimPolicy: 'Delete' });
    await user.volumeIs('Available', 'fit', 'gone');
    await user.claim('fit', '1Gi');
    await user.claimIs('Bound', 'fit');
    await user.claim('gone', '2Gi');
    await user.claim('host', '1Gi', { storageClassName: user.nameOf('host') });
    await user.claimIs('Bound', 'gone', 'host'); // first: one that waits for a provisioner says so at each sync
    const made = await user.claim('made', '1Gi', { storageClassName: user.nameOf('made') });
    await user.user.until(PersistentVolumeClaims, 'made', (claim) => isAsked(claim?.metadata.annotations));
    await user.volume('made', '1Gi', { storageClassName: user.nameOf('made'), claimRef: user.referenceTo(made) });
    await user.claimIs('Bound', 'made');
    await user.volumeIs('Bound', 'fit', 'gone', 'made');
    for (const name of ['gone', 'host', 'made']) await user.remove(PersistentVolumeClaims, name);
    await user.volumeIs('Released', 'made');
    await eventually(() => releaseDeleted(namespace, client, signal), signal);
  },
};

/** A volume is recycled, another one is freed from a claim that is bound elsewhere, and a claim gets the default class. */
const reclaims: FaultScenario = {
  controller: 'persistentvolume-binder-controller',
  about: 'that recycles, unbinds and assigns classes',
  flags: () => ['--pvclaimbinder-sync-period=1s'],
  kinds: [PersistentVolumeClaims, PersistentVolumes],
  ignore: ['PersistentVolume:spec.claimRef.resourceVersion'],
  isAlone: true, // a binder serves the volumes of every trial, and there is one default class
  async act({ client, namespace, signal }) {
    const user = new BinderUser(client, namespace, signal);
    await createDefaultAccount('default', client, signal); // of the recycler's pods
    await user.bind('used', { persistentVolumeReclaimPolicy: 'Recycle' });
    await user.bind('kept', {});
    const kept = await client.get(PersistentVolumeClaims, objectKey(namespace, 'kept'), signal);
    const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
    await user.volume('spare', '1Gi', { claimRef: user.referenceTo(kept) }, { annotations });
    await user.volumeIs('Available', 'spare');
    await user.remove(PersistentVolumeClaims, 'used');
    await eventually(() => isRecycled(user.nameOf('used'), client, signal), signal);

    const unclassed = { metadata: { namespace, name: 'unclassed' }, spec: claimSpec };
    await client.create(PersistentVolumeClaims, unclassed, signal);
    await user.storageClass('usual', {}, { 'storageclass.kubernetes.io/is-default-class': 'true' });
    const isClassed = (claim?: PersistentVolumeClaim): boolean => claim?.spec.storageClassName === user.nameOf('usual');
    await user.user.until(PersistentVolumeClaims, 'unclassed', isClassed);
    // Reserved, because claims of other scenarios have been given the class too.
    const claimRef = user.referenceTo('unclassed');
    await user.volume('usual', '1Gi', { storageClassName: user.nameOf('usual'), claimRef });
    await user.claimIs('Bound', 'unclassed');
    await user.volumeIs('Bound', 'usual');
    await client.delete(StorageClasses, objectKey(undefined, user.nameOf('usual')), {}, signal);
  },
};

/** Ends the pod that empties a volume, each time there is a new one. True once the volume is available. */
async function isRecycled(name: string, client: Client, signal: AbortSignal): Promise<boolean> {
  const volume = await client.get(PersistentVolumes, objectKey(undefined, name), signal);
  if (volume.status?.phase === 'Available') return true;
  const { items } = await client.listAll(Pods, { namespace: 'default' }, signal);
  const recycler = items.find(({ metadata }) => metadata.name === `recycler-for-${name}`);
  if (recycler === undefined || recycler.status?.phase === 'Succeeded') return false;
  const patch = { type: 'merge', subresource: 'status', body: { status: { phase: 'Succeeded' } } } as const;
  try {
    await client.patch(Pods, keyOf(recycler), patch, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return false;
}

/** Lets volumes go that the binder has deleted. True if none is left that it has to delete. */
async function releaseDeleted(namespace: string, client: Client, signal: AbortSignal): Promise<boolean> {
  const { items } = await client.listAll(PersistentVolumes, {}, signal);
  const left = items.filter(({ spec: { claimRef, persistentVolumeReclaimPolicy: policy } }) => {
    return policy === 'Delete' && claimRef?.namespace === namespace;
  });
  const body = { metadata: { finalizers: null } };
  for (const volume of left.filter(({ metadata }) => metadata.finalizers?.join() === 'kubernetes.io/pv-protection')) {
    if (!isBeingDeleted(volume.metadata)) continue;
    await client.patch(PersistentVolumes, keyOf(volume), { type: 'merge', body }, signal);
  }
  return left.length === 0;
}

function isAsked(annotations: Readonly<Record<string, string>> | undefined): boolean {
  return ownValue(annotations, 'volume.kubernetes.io/storage-provisioner') === provisioner;
}

/** A claim grows whose volume a CSI driver took over from a plugin. */
const expand: FaultScenario = {
  controller: 'persistentvolume-expander-controller',
  kinds: [PersistentVolumeClaims],
  async act({ client, namespace, signal }) {
    const stage = { user: new AttachUser(client, namespace, signal), client, namespace, signal };
    await createGrowing(stage, { ebs: { awsElasticBlockStore: { volumeID: 'vol-1' } } });
    await growClaim(stage, 'ebs');
    await untilResizer(stage, 'ebs', 'ebs.csi.aws.com');
  },
};

export const volumeScenarios: readonly FaultScenario[] = [
  binder,
  reclaims,
  claimProtection,
  ephemeralVolumes,
  volumeProtection,
  attributesClassProtection,
  attachDetach,
  expand,
];
