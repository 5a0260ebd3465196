import { expect, test } from 'vitest';

import {
  CoreEvents,
  findCondition,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttributesClasses,
  type KubeObject,
} from '../../pkg/api/index.ts';
import type { State } from '../support/compare-state.ts';
import { compareWithGo, type ManagerName, runWith, type Scenario } from '../support/side-by-side.ts';
import {
  attributesClass,
  claimVolume,
  ephemeralVolume,
  hasFinalizers,
  isGone,
  VolumeUser,
  volumeSpec,
} from '../support/volume-user.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const keep = ['example.com/keep'];
const nodeName = 'elsewhere';

type Play = (user: VolumeUser) => Promise<void>;

/** What the two managers leave differently, each in a namespace of its own and in what is named after it. */
async function differences(
  scenario: Omit<Scenario, 'run'>,
  plays: readonly Play[],
  signal: AbortSignal,
): Promise<string[]> {
  const run: Scenario['run'] = async ({ client, namespace }) => {
    for (const play of plays) await play(new VolumeUser(client, namespace, signal));
  };
  const runOne = async (manager: ManagerName): Promise<State> => {
    const { namespace, objects } = await runWith(manager, cluster(), { ...scenario, run }, signal);
    const isOwn = ({ namespace: place, name }: KubeObject['metadata']): boolean =>
      place === namespace || name.startsWith(namespace);
    const own = objects.filter(({ object }) => isOwn(object.metadata));
    return { namespace: 'play', objects: JSON.parse(JSON.stringify(own).replaceAll(namespace, 'play')) as typeof own };
  };
  const ours = await runOne('ours');
  return compareWithGo(ours, () => runOne('go'));
}

/** Claims and their pods, deleted in every order. Those that are called `kept` stay. */
async function deleteClaims(user: VolumeUser): Promise<void> {
  const claims = ['pod-last', 'pod-first', 'unscheduled', 'kept-finished', 'kept-shared', 'idle', 'kept-stripped'];
  for (const name of claims) await user.claim(name);
  await user.claim('kept-for-others', { finalizers: keep });
  await user.pod('last', { volumes: [claimVolume('pod-last')], nodeName });
  await user.pod('first', { volumes: [claimVolume('pod-first')], nodeName });
  await user.pod('unscheduled', { volumes: [claimVolume('unscheduled')] });
  await user.pod('finished', { volumes: [claimVolume('kept-finished')], nodeName });
  for (const name of ['one', 'two']) await user.pod(name, { volumes: [claimVolume('kept-shared')], nodeName });

  const first = ['pod-last', 'unscheduled', 'kept-finished', 'kept-shared', 'idle', 'kept-for-others'];
  await user.delete(PersistentVolumeClaims, ...first);
  await user.delete(Pods, 'first');
  await user.delete(PersistentVolumeClaims, 'pod-first');
  await user.delete(Pods, 'one');
  await user.setStatus(Pods, 'finished', { phase: 'Succeeded' });
  for (const name of ['pod-first', 'unscheduled', 'idle']) await user.until(PersistentVolumeClaims, name, isGone);
  await user.until(PersistentVolumeClaims, 'kept-for-others', hasFinalizers(1));
  await user.delete(Pods, 'last');
  await user.until(PersistentVolumeClaims, 'pod-last', isGone);

  await user.setFinalizers(PersistentVolumeClaims, 'kept-stripped', keep);
  await user.until(PersistentVolumeClaims, 'kept-stripped', hasFinalizers(2));
}

/** Claims of ephemeral volumes. The pods have finalizers: their claims need not wait for these. */
async function deleteEphemeral(user: VolumeUser): Promise<void> {
  const described = { volumes: [ephemeralVolume('v')], nodeName, finalizers: keep };
  for (const name of ['stopped', 'kept']) await user.claim(`${name}-v`, { owner: await user.pod(name, described) });
  await user.pod('foreign', { volumes: [ephemeralVolume('v')], nodeName });
  await user.claim('foreign-v');
  await user.delete(PersistentVolumeClaims, 'stopped-v', 'kept-v', 'foreign-v');
  await user.until(PersistentVolumeClaims, 'foreign-v', isGone);
  await user.delete(Pods, 'stopped');
  await user.until(PersistentVolumeClaims, 'stopped-v', isGone);
}

test('claims stay while pods use them, in every order of deletion, as with the Go manager', async ({ signal }) => {
  const scenario = {
    controllers: ['persistentvolumeclaim-protection-controller'],
    kinds: [PersistentVolumeClaims, Pods, CoreEvents],
  };
  expect(await differences(scenario, [deleteClaims, deleteEphemeral], signal)).toEqual([]);
});

/** Claims that pods begin and cease to use. */
async function useClaims(user: VolumeUser): Promise<void> {
  const untilUnused = (name: string, status: string): Promise<unknown> =>
    user.until(PersistentVolumeClaims, name, (claim) => {
      return findCondition(claim?.status?.conditions, 'Unused')?.status === status;
    });
  for (const name of ['idle', 'used', 'released', 'finished']) await user.claim(name);
  for (const name of ['idle', 'used', 'released', 'finished']) await untilUnused(name, 'True');
  for (const name of ['used', 'released', 'finished']) {
    await user.pod(name, { volumes: [claimVolume(name)] });
    await untilUnused(name, 'False');
  }
  await user.delete(Pods, 'released');
  await user.setStatus(Pods, 'finished', { phase: 'Succeeded' });
  await untilUnused('released', 'True');
  await untilUnused('finished', 'True');
}

test('with its gate, claims say since when no pod uses them, as with the Go manager', async ({ signal }) => {
  const scenario = {
    controllers: ['persistentvolumeclaim-protection-controller'],
    flags: ['--feature-gates=PersistentVolumeClaimUnusedSinceTime=true'],
    kinds: [PersistentVolumeClaims, Pods, CoreEvents],
  };
  expect(await differences(scenario, [useClaims], signal)).toEqual([]);
});

/** Volumes, deleted in each phase that matters. */
async function deleteVolumes(user: VolumeUser): Promise<void> {
  for (const name of ['pending', 'available', 'released', 'kept-bound', 'kept-stripped']) {
    await user.create(PersistentVolumes, name, { spec: volumeSpec });
  }
  await user.create(PersistentVolumes, 'kept-for-others', { spec: volumeSpec }, keep);
  for (const name of ['released', 'kept-bound']) await user.setStatus(PersistentVolumes, name, { phase: 'Bound' });
  await user.setStatus(PersistentVolumes, 'available', { phase: 'Available' });
  await user.delete(PersistentVolumes, 'pending', 'available', 'released', 'kept-bound', 'kept-for-others');
  for (const name of ['pending', 'available']) await user.until(PersistentVolumes, name, isGone);
  await user.until(PersistentVolumes, 'kept-for-others', hasFinalizers(1));
  await user.setStatus(PersistentVolumes, 'released', { phase: 'Released' });
  await user.until(PersistentVolumes, 'released', isGone);
  await user.setFinalizers(PersistentVolumes, 'kept-stripped', keep);
  await user.until(PersistentVolumes, 'kept-stripped', hasFinalizers(2));
}

/** Classes that claims and volumes refer to in each way, deleted before and after these. */
async function deleteClasses(user: VolumeUser): Promise<void> {
  const names = ['idle', 'wanted', 'current', 'target', 'of-volume', 'kept', 'kept-stripped'];
  for (const name of names) await user.create(VolumeAttributesClasses, name, attributesClass);
  const [wanted, current, target, ofVolume, kept] = ['wanted', 'current', 'target', 'of-volume', 'kept'].map(
    (name) => user.keyOf(VolumeAttributesClasses, name) as string,
  );
  await user.claim('wanting', { spec: { volumeAttributesClassName: wanted } });
  await user.claim('keeping', { spec: { volumeAttributesClassName: kept } });
  await user.claim('changing');
  const modifyVolumeStatus = { status: 'InProgress', targetVolumeAttributesClassName: target };
  await user.setStatus(PersistentVolumeClaims, 'changing', {
    currentVolumeAttributesClassName: current,
    modifyVolumeStatus,
  });
  const driver = { hostPath: undefined, csi: { driver: 'example.com', volumeHandle: 'v' } };
  const spec = { ...volumeSpec, ...driver, volumeAttributesClassName: ofVolume };
  await user.create(PersistentVolumes, 'with-class', { spec });

  await user.delete(VolumeAttributesClasses, ...names.slice(0, -1));
  await user.until(VolumeAttributesClasses, 'idle', isGone);
  for (const name of ['wanted', 'current', 'target', 'of-volume']) {
    await user.until(VolumeAttributesClasses, name, hasFinalizers(1));
  }
  await user.setStatus(PersistentVolumeClaims, 'changing', {
    currentVolumeAttributesClassName: null,
    modifyVolumeStatus: null,
  });
  for (const name of ['current', 'target']) await user.until(VolumeAttributesClasses, name, isGone);
  for (const [kind, name] of [
    [PersistentVolumeClaims, 'wanting'] as const,
    [PersistentVolumes, 'with-class'] as const,
  ]) {
    await user.delete(kind, name);
    await user.setFinalizers(kind, name, null);
  }
  for (const name of ['wanted', 'of-volume']) await user.until(VolumeAttributesClasses, name, isGone);
  await user.setFinalizers(VolumeAttributesClasses, 'kept-stripped', keep);
  await user.until(VolumeAttributesClasses, 'kept-stripped', hasFinalizers(2));
}

test('volumes stay while they are bound, as with the Go manager', async ({ signal }) => {
  const scenario = { controllers: ['persistentvolume-protection-controller'], kinds: [PersistentVolumes, CoreEvents] };
  expect(await differences(scenario, [deleteVolumes], signal)).toEqual([]);
});

test('attributes classes stay while claims and volumes refer to them, as with the Go manager', async ({ signal }) => {
  const scenario = {
    controllers: ['volumeattributesclass-protection-controller'],
    kinds: [VolumeAttributesClasses, PersistentVolumeClaims, CoreEvents],
  };
  expect(await differences(scenario, [deleteClasses], signal)).toEqual([]);
});
