import { PersistentVolumeClaims, PersistentVolumes, Pods, VolumeAttachments } from '../../../pkg/api/index.ts';
import { hollowDriver } from '../../../pkg/hollow/index.ts';
import type { ManagerName } from './manager-process.ts';
import { measureWork, type Conditions, type Measurement } from './measure.ts';
import type { Stage } from './stage.ts';

const accessModes = ['ReadWriteOnce'];
const storageClassName = 'bench';
/** Claims of several sizes look for volumes of several sizes. */
const sizeOf = (index: number): string => `${1 + (index % 20)}Gi`;

function volume(index: number): object {
  const name = `volume-${index}`;
  const csi = { driver: hollowDriver, volumeHandle: name };
  return { metadata: { name }, spec: { accessModes, storageClassName, capacity: { storage: sizeOf(index) }, csi } };
}

function claim(namespace: string, index: number): object {
  const resources = { requests: { storage: sizeOf(index) } };
  return { metadata: { namespace, name: `claim-${index}` }, spec: { accessModes, storageClassName, resources } };
}

function pod(namespace: string, index: number): object {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: `claim-${index}` } }];
  const containers = [{ name: 'app', image: 'app:1' }];
  return {
    metadata: { namespace, name: `pod-${index}` },
    spec: { terminationGracePeriodSeconds: 1, containers, volumes },
  };
}

const numbered = (count: number, make: (index: number) => object): object[] =>
  Array.from({ length: count }, (_, index) => make(index));

function untilPhase(stage: Stage, phase: string, count: number): Promise<void> {
  return stage.until(PersistentVolumes, undefined, (found) => {
    return found.filter(({ status }) => status?.phase === phase).length === count;
  });
}

/** As many claims as volumes, pods that use some of them, and the end of both. */
export async function measureVolumes(manager: ManagerName, conditions: Conditions): Promise<Measurement[]> {
  const size = (count: number): number => Math.max(2, Math.round(count * conditions.scale));
  const [many, used] = [size(10_000), size(1000)];
  return measureWork(
    manager,
    [
      {
        name: `${many} volumes`,
        async run(stage) {
          await stage.createAll(PersistentVolumes, numbered(many, volume));
          await untilPhase(stage, 'Available', many);
        },
      },
      {
        name: `${many} claims for them`,
        async run(stage, namespace) {
          await stage.createAll(
            PersistentVolumeClaims,
            numbered(many, (index) => claim(namespace, index)),
          );
          await stage.until(PersistentVolumeClaims, namespace, (found) => {
            return found.filter(({ status }) => status?.phase === 'Bound').length === many;
          });
        },
      },
      {
        name: `${used} pods with claims`,
        async run(stage, namespace) {
          await stage.createAll(
            Pods,
            numbered(used, (index) => pod(namespace, index)),
          );
          await stage.until(Pods, namespace, (found) => {
            return found.filter(({ status }) => status?.phase === 'Running').length === used;
          });
        },
      },
      {
        name: 'those pods deleted, and their volumes detached',
        async run(stage, namespace) {
          await stage.client.deleteCollection(Pods, { namespace }, stage.signal);
          await stage.until(Pods, namespace, (found) => found.length === 0);
          await stage.until(VolumeAttachments, undefined, (found) => found.length === 0);
        },
      },
      {
        name: 'all claims deleted',
        async run(stage, namespace) {
          await stage.client.deleteCollection(PersistentVolumeClaims, { namespace }, stage.signal);
          await untilPhase(stage, 'Released', many);
        },
      },
    ],
    conditions,
  );
}
