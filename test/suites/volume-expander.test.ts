import { expect, test } from 'vitest';

import { CoreEvents, PersistentVolumeClaims, PersistentVolumes, type KubeObject } from '../../pkg/api/index.ts';
import { AttachUser } from '../support/attach-user.ts';
import type { State } from '../support/compare-state.ts';
import { expandClaims } from '../support/expand-scenarios.ts';
import { compareWithGo, type ManagerName, runWith } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();

test('claims that grow are handed to external resizers, as with the Go manager', async ({ signal }) => {
  const endState = async (manager: ManagerName): Promise<State> => {
    const scenario = {
      controllers: ['persistentvolume-expander-controller'],
      kinds: [PersistentVolumeClaims, PersistentVolumes, CoreEvents],
      run: ({ client, namespace }: { client: ConstructorParameters<typeof AttachUser>[0]; namespace: string }) =>
        expandClaims({ user: new AttachUser(client, namespace, signal), client, namespace, signal }),
    };
    const { namespace, objects } = await runWith(manager, cluster(), scenario, signal);
    const isOwn = ({ namespace: place, name }: KubeObject['metadata']): boolean =>
      place === namespace || name.startsWith(namespace);
    const own = objects.filter(({ object }) => isOwn(object.metadata));
    return { namespace: 'play', objects: JSON.parse(JSON.stringify(own).replaceAll(namespace, 'play')) as typeof own };
  };
  const ours = await endState('ours');
  expect(await compareWithGo(ours, () => endState('go'))).toEqual([]);
});
