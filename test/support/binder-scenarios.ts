import {
  CoreEvents,
  keyOf,
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type Kind,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { claimVolume, isGone, VolumeUser } from './volume-user.ts';

type VolumeSpec = Partial<PersistentVolume['spec']>;
type ClaimSpec = Partial<PersistentVolumeClaim['spec']>;
type Annotations = Record<string, string>;

const bindCompleted = { 'pv.kubernetes.io/bind-completed': 'yes' };
const boundByController = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
const selectedNode = 'volume.kubernetes.io/selected-node';
export const provisioner = 'disks.example.com';

/** Does with volumes and claims what users, administrators, provisioners and crashed binders do. */
export class BinderUser {
  readonly user: VolumeUser;
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.user = new VolumeUser(client, namespace, signal);
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  nameOf(name: string): string {
    return `${this.#namespace}-${name}`;
  }

  async volume(name: string, size: string, spec: VolumeSpec = {}, metadata: object = {}): Promise<PersistentVolume> {
    const source = spec.csi ?? spec.nfs ?? spec.hostPath;
    return this.#client.create(
      PersistentVolumes,
      {
        metadata: { name: this.nameOf(name), ...metadata },
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: size },
          storageClassName: this.nameOf('manual'),
          ...(source === undefined ? { hostPath: { path: `/tmp/${this.nameOf(name)}` } } : {}),
          ...spec,
        },
      },
      this.#signal,
    );
  }

  claim(
    name: string,
    size: string,
    spec: ClaimSpec = {},
    annotations: Annotations = {},
  ): Promise<PersistentVolumeClaim> {
    return this.#client.create(
      PersistentVolumeClaims,
      {
        metadata: { namespace: this.#namespace, name, annotations },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: size } },
          storageClassName: this.nameOf('manual'),
          ...spec,
        },
      },
      this.#signal,
    );
  }

  async storageClass(name: string, fields: object, annotations: Annotations = {}): Promise<void> {
    const metadata = { name: this.nameOf(name), annotations };
    await this.#client.create(StorageClasses, { metadata, provisioner, ...fields }, this.#signal);
  }

  async node(name: string): Promise<void> {
    await this.#client.create(Nodes, { metadata: { name: this.nameOf(name) }, spec: {} }, this.#signal);
  }

  /** The reference of a volume to a claim. */
  referenceTo(claim: string | PersistentVolumeClaim): NonNullable<VolumeSpec['claimRef']> {
    const kind = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: this.#namespace };
    return typeof claim === 'string'
      ? { ...kind, name: claim }
      : { ...kind, name: claim.metadata.name, uid: claim.metadata.uid };
  }

  async volumeIs(phase: string, ...names: readonly string[]): Promise<void> {
    for (const name of names)
      await this.user.until(PersistentVolumes, name, (volume) => volume?.status?.phase === phase);
  }

  async claimIs(phase: string, ...names: readonly string[]): Promise<void> {
    for (const name of names)
      await this.user.until(PersistentVolumeClaims, name, (claim) => claim?.status?.phase === phase);
  }

  async bind(name: string, spec: VolumeSpec): Promise<void> {
    await this.volume(name, '1Gi', spec);
    await this.claim(name, '1Gi', { volumeName: this.nameOf(name) });
    await this.claimIs('Bound', name);
    await this.volumeIs('Bound', name);
  }

  /** Deletes a claim, for which no controller of finalizers runs. */
  async remove(kind: Kind, name: string): Promise<void> {
    await this.user.delete(kind, name);
    await this.user.setFinalizers(kind, name, null);
    await this.user.until(kind, name, isGone);
  }

  async hasEvent(namespace: string, reason: string, about: string): Promise<void> {
    const fieldSelector = `involvedObject.name=${about},reason=${reason}`;
    await eventually(async () => {
      const { items } = await this.#client.listAll(CoreEvents, { namespace, fieldSelector }, this.#signal);
      return items.length > 0;
    }, this.#signal);
  }

  async claimSays(reason: string, ...names: readonly string[]): Promise<void> {
    for (const name of names) await this.hasEvent(this.#namespace, reason, name);
  }

  async volumeSays(reason: string, ...names: readonly string[]): Promise<void> {
    for (const name of names) await this.hasEvent('default', reason, this.nameOf(name));
  }

  /** Ends the pod that empties a volume, as a kubelet would. */
  async endRecycler(volume: string, status: object): Promise<void> {
    const key = objectKey('default', `recycler-for-${this.nameOf(volume)}`);
    await eventually(async () => {
      const { items } = await this.#client.listAll(Pods, { namespace: 'default' }, this.#signal);
      return items.some((pod) => keyOf(pod) === key);
    }, this.#signal);
    await this.#client.patch(Pods, key, { type: 'merge', subresource: 'status', body: { status } }, this.#signal);
  }
}

/** Claims get the smallest volume that has all that they ask for. */
export async function playMatching(binder: BinderUser): Promise<void> {
  await binder.volume('5', '5Gi');
  await binder.volume('10', '10Gi');
  await binder.volume('20', '20Gi', {}, { labels: { tier: 'gold', constructor: 'yes' } });
  await binder.volume('many', '5Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
  await binder.volume('block', '5Gi', { volumeMode: 'Block', csi: { driver: provisioner, volumeHandle: 'block' } });
  await binder.volume('fast', '5Gi', {
    volumeAttributesClassName: 'fast',
    csi: { driver: provisioner, volumeHandle: 'fast' },
  });
  await binder.volume('exact', '5368709121', { storageClassName: binder.nameOf('exact') });
  await binder.volumeIs('Available', '5', '10', '20', 'many', 'block', 'fast', 'exact');

  await binder.claim('small', '3Gi');
  await binder.claimIs('Bound', 'small');
  await binder.claim('shared', '1Gi', { accessModes: ['ReadOnlyMany'] });
  await binder.claim('gold', '1Gi', { selector: { matchLabels: { tier: 'gold', constructor: 'yes' } } });
  await binder.claim('block', '1Gi', { volumeMode: 'Block' });
  await binder.claim('fast', '1Gi', { volumeAttributesClassName: 'fast' });
  await binder.claim('exact', '5368709121', { storageClassName: binder.nameOf('exact') });
  await binder.claim('too-exact', '5368709122', { storageClassName: binder.nameOf('exact') });
  await binder.claimIs('Bound', 'shared', 'gold', 'block', 'fast', 'exact');
  await binder.claim('big', '6Gi');
  await binder.claimIs('Bound', 'big');
  await binder.claim('huge', '100Gi'); // of a class that does not exist
  await binder.claimSays('ProvisioningFailed', 'huge', 'too-exact');
}

/** One side names the other. */
export async function playReservations(binder: BinderUser): Promise<void> {
  await binder.volume('for-later', '5Gi', { claimRef: binder.referenceTo('later') });
  await binder.volume('asked', '5Gi');
  await binder.volume('tiny', '1Gi');
  await binder.volume('owned', '5Gi');
  await binder.volumeIs('Available', 'for-later', 'asked', 'tiny', 'owned');
  await binder.claim('later', '1Gi');
  await binder.claim('asking', '1Gi', { volumeName: binder.nameOf('asked') });
  await binder.claim('owner', '1Gi', { volumeName: binder.nameOf('owned') });
  await binder.claimIs('Bound', 'later', 'asking', 'owner');
  await binder.claim('asks-too-much', '2Gi', { volumeName: binder.nameOf('tiny') });
  await binder.claim('asks-other-class', '1Gi', { volumeName: binder.nameOf('tiny'), storageClassName: '' });
  await binder.claim('asks-nothing-there', '1Gi', { volumeName: binder.nameOf('none') });
  await binder.claim('late', '1Gi', { volumeName: binder.nameOf('owned') });
  await binder.claimSays('VolumeMismatch', 'asks-too-much', 'asks-other-class');
  await binder.claimSays('FailedBinding', 'late');
}

/** What a crash, another binder or a user may leave behind. */
export async function playHalfBound(binder: BinderUser): Promise<void> {
  const unbound = await binder.claim('half-volume', '1Gi', { storageClassName: binder.nameOf('half') });
  await binder.claimSays('ProvisioningFailed', 'half-volume');
  await binder.volume(
    'half-volume',
    '1Gi',
    { claimRef: binder.referenceTo(unbound) },
    { annotations: boundByController },
  );
  await binder.volume('half-claim', '1Gi', { storageClassName: binder.nameOf('other') });
  const other = { storageClassName: binder.nameOf('other'), volumeName: binder.nameOf('half-claim') };
  await binder.claim('half-claim', '1Gi', other, boundByController);
  await binder.claimIs('Bound', 'half-volume', 'half-claim');

  const bound = await binder.claim('whole', '1Gi', {
    storageClassName: binder.nameOf('whole'),
    volumeName: binder.nameOf('whole'),
  });
  await binder.volume('whole', '1Gi', { storageClassName: binder.nameOf('whole') });
  await binder.claimIs('Bound', 'whole');
  const claimRef = binder.referenceTo(bound);
  const provisioned = { 'pv.kubernetes.io/provisioned-by': provisioner };
  await binder.volume('extra', '1Gi', { claimRef }, { annotations: boundByController });
  await binder.volume('extra-of-user', '1Gi', { claimRef });
  await binder.volume(
    'extra-provisioned',
    '1Gi',
    { claimRef, persistentVolumeReclaimPolicy: 'Delete' },
    { annotations: provisioned },
  );
  await binder.volumeIs('Available', 'extra', 'extra-of-user');
  await binder.volumeIs('Released', 'extra-provisioned');

  const gone = { volumeName: binder.nameOf('gone') };
  await binder.claim('lost', '1Gi', gone, bindCompleted);
  await binder.claim('lost-name', '1Gi', {}, bindCompleted);
  await binder.claim(
    'misbound',
    '1Gi',
    { volumeName: binder.nameOf('whole') },
    { ...bindCompleted, ...boundByController },
  );
  await binder.bind('vanishing', {});
  await binder.remove(PersistentVolumes, 'vanishing');
  await binder.claimIs('Lost', 'lost', 'lost-name', 'misbound', 'vanishing');
}

/** Provisioning has failed on the node, and the scheduler is to select another one. */
function isUnselected(claim: PersistentVolumeClaim | undefined): boolean {
  return claim !== undefined && claim.metadata.annotations?.[selectedNode] === undefined;
}

/** Claims that wait for a pod, and claims for which a volume is made. */
export async function playProvisioning(binder: BinderUser): Promise<void> {
  const delayed = { volumeBindingMode: 'WaitForFirstConsumer' };
  await binder.node('node'); // first: the binder knows it when it provisions
  await binder.storageClass('delayed', delayed);
  await binder.storageClass('made', {});
  await binder.storageClass('migrated', { provisioner: 'kubernetes.io/gce-pd' });
  await binder.storageClass('none', { provisioner: 'kubernetes.io/no-provisioner' });
  await binder.storageClass('nfs', { provisioner: 'kubernetes.io/nfs' });
  await binder.storageClass('host', { provisioner: 'kubernetes.io/host-path' });
  await binder.storageClass('host-options', { provisioner: 'kubernetes.io/host-path', mountOptions: ['ro', 'nosuid'] });
  const of = (name: string): ClaimSpec => ({ storageClassName: binder.nameOf(name) });

  await binder.user.pod('consumer', { volumes: [claimVolume('consumed')] });
  await binder.claim('unused', '1Gi', of('delayed'));
  await binder.claim('consumed', '1Gi', of('delayed'));
  await binder.claim('selected', '1Gi', of('delayed'), { [selectedNode]: 'node-1' });
  const made = await binder.claim('made', '1Gi', of('made'));
  for (const name of ['migrated', 'none', 'nfs', 'host', 'host-options']) await binder.claim(name, '1Gi', of(name));
  const block = { ...of('host'), volumeMode: 'Block' };
  await binder.claim('host-block', '1Gi', block, { [selectedNode]: binder.nameOf('node') });
  await binder.claim('host-no-node', '1Gi', block, { [selectedNode]: binder.nameOf('missing') });
  await binder.claimSays('WaitForFirstConsumer', 'unused');
  await binder.claimSays('WaitForPodScheduled', 'consumed');
  await binder.claimSays('ExternalProvisioning', 'selected', 'made', 'migrated');
  await binder.claimSays('ProvisioningFailed', 'none', 'nfs', 'host-options', 'host-block', 'host-no-node');
  await binder.user.until(PersistentVolumeClaims, 'host-block', (claim) => isUnselected(claim));
  await binder.claimSays('ProvisioningSucceeded', 'host');
  await binder.claimIs('Bound', 'host');

  const annotations = { 'pv.kubernetes.io/provisioned-by': provisioner };
  const source = { csi: { driver: provisioner, volumeHandle: 'made' }, persistentVolumeReclaimPolicy: 'Delete' };
  await binder.volume('made', '1Gi', { ...of('made'), ...source, claimRef: binder.referenceTo(made) }, { annotations });
  await binder.claimIs('Bound', 'made');
}

/** Claims go, and their volumes are reclaimed. */
export async function playReclaiming(binder: BinderUser): Promise<void> {
  const csi = { driver: provisioner, volumeHandle: 'one' };
  const nfs = { server: 'nfs.example.com', path: '/data' };
  const [Delete, Recycle] = [{ persistentVolumeReclaimPolicy: 'Delete' }, { persistentVolumeReclaimPolicy: 'Recycle' }];
  const cases: Readonly<Record<string, VolumeSpec>> = {
    retained: { persistentVolumeReclaimPolicy: 'Retain' },
    deleted: Delete,
    'outside-tmp': { ...Delete, hostPath: { path: '/var/data' } },
    'csi-deleted': { ...Delete, csi },
    'nfs-deleted': { ...Delete, nfs },
    'csi-recycled': { ...Recycle, csi },
    recycled: Recycle,
    'nfs-recycled': { ...Recycle, nfs, capacity: { storage: '20Gi' } },
  };
  for (const [name, spec] of Object.entries(cases)) await binder.bind(name, spec);
  for (const name of Object.keys(cases)) await binder.remove(PersistentVolumeClaims, name);
  await binder.volumeIs('Released', 'retained', 'csi-deleted');
  await binder.volumeIs('Failed', 'outside-tmp', 'nfs-deleted', 'csi-recycled');
  await binder.user.until(PersistentVolumes, 'deleted', (volume) => volume?.metadata.deletionTimestamp !== undefined);
  await binder.endRecycler('recycled', { phase: 'Succeeded' });
  await binder.volumeIs('Available', 'recycled');
  await binder.endRecycler('nfs-recycled', { phase: 'Failed', message: 'the server is down' });
  await binder.volumeIs('Failed', 'nfs-recycled');
  await binder.endRecycler('nfs-recycled', { phase: 'Succeeded' });
  await binder.volumeIs('Available', 'nfs-recycled');
}

/** A claim that was made before the default class gets it later. */
export async function playDefaultClass(binder: BinderUser): Promise<void> {
  await binder.claim('unclassed', '1Gi', { storageClassName: undefined });
  await binder.claimSays('FailedBinding', 'unclassed');
  await binder.storageClass('default', {}, { 'storageclass.kubernetes.io/is-default-class': 'true' });
  await binder.claimSays('ExternalProvisioning', 'unclassed');
  await binder.user.delete(StorageClasses, 'default');
  await binder.claimSays('ProvisioningFailed', 'unclassed'); // by the next sync of all
}
