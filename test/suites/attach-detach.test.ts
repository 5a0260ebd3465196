import { expect, test } from 'vitest';

import {
  CoreEvents,
  CSINodes,
  Nodes,
  objectKey,
  Pods,
  VolumeAttachments,
  type KubeObject,
  type Node,
} from '../../pkg/api/index.ts';
import { csiUniqueName } from '../../pkg/volumes/index.ts';
import {
  attachAndDetach,
  attachMigrated,
  attachmentSymbols,
  attachNothing,
  failToAttach,
  loseNodes,
  shareExclusive,
  type AttachPlay,
} from '../support/attach-scenarios.ts';
import { AttachUser } from '../support/attach-user.ts';
import type { State } from '../support/compare-state.ts';
import { eventually } from '../support/eventually.ts';
import { compareWithGo, type ManagerName, runWith, type Scenario, startEither } from '../support/side-by-side.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster();
const nodes = useNodes(cluster, { nodes: 1, podStopDelayMs: 0 });

/** What a manager leaves, under names that are the same for both. */
async function endState(manager: ManagerName, play: AttachPlay, signal: AbortSignal): Promise<State> {
  const scenario: Scenario = {
    controllers: ['persistentvolume-attach-detach-controller'],
    kinds: [VolumeAttachments, Nodes, Pods, CoreEvents],
    run: ({ client, namespace }) =>
      play({ user: new AttachUser(client, namespace, signal), client, namespace, signal }),
  };
  let symbols: ReadonlyMap<string, string> = new Map();
  const run: Scenario['run'] = async (stage, signalOfRun) => {
    symbols = attachmentSymbols(new AttachUser(stage.client, stage.namespace, signalOfRun));
    await scenario.run(stage, signalOfRun);
  };
  const { namespace, objects } = await runWith(manager, cluster(), { ...scenario, run }, signal);
  const isOwn = ({ namespace: place, name }: KubeObject['metadata']): boolean =>
    place === namespace || name.startsWith(namespace) || symbols.has(name);
  const own = objects
    .filter(({ object }) => isOwn(object.metadata))
    .map(({ object, ...rest }) => {
      return { ...rest, object: sortReported(object) };
    });
  let text = JSON.stringify(own);
  for (const [name, symbol] of symbols) text = text.replaceAll(name, symbol);
  return { namespace: 'play', objects: JSON.parse(text.replaceAll(namespace, 'play')) as typeof own };
}

/** Go reports the volumes of a node in any order. */
function sortReported<T extends object>(object: T): T {
  const { status } = object as { status?: { volumesAttached?: { name: string }[] } };
  status?.volumesAttached?.sort((a, b) => (a.name < b.name ? -1 : 1));
  return object;
}

test.for<readonly [string, AttachPlay]>([
  ['are attached, reported, and detached once the kubelet has unmounted them', attachAndDetach],
  ['are attached after their attacher has failed, and pods are told', failToAttach],
  ['that one node may have at a time move from node to node', shareExclusive],
  ['of plugins that were part of Kubernetes are attached by CSI drivers', attachMigrated],
  ['are left alone where nothing has to be attached', attachNothing],
  ['of lost machines are detached', loseNodes],
])('volumes %s, as with the Go manager', async ([_name, play], { signal }) => {
  const ours = await endState('ours', play, signal);
  expect(await compareWithGo(ours, () => endState('go', play, signal))).toEqual([]);
});

test('a pod on a simulated node starts with its volumes attached, and releases them', async ({ signal }) => {
  const { client, hollow } = nodes();
  const namespace = await createNamespace(cluster());
  const [nodeName = ''] = hollow.nodeNames;
  const key = objectKey(namespace, 'app');
  const uniqueName = csiUniqueName('ebs.csi.aws.com', namespace);
  const readNode = (): Promise<Node> => client.get(Nodes, objectKey(undefined, nodeName), signal);
  const stop = await startEither('ours', cluster(), { controllers: ['persistentvolume-attach-detach-controller'] });
  try {
    const volumes = [{ name: 'data', awsElasticBlockStore: { volumeID: namespace } }];
    const spec = { containers: [{ name: 'main', image: 'example' }], volumes, nodeName };
    await client.create(Pods, { metadata: { namespace, name: 'app' }, spec }, signal);
    await eventually(async () => (await client.get(Pods, key, signal)).status?.phase === 'Running', signal);
    const { status } = await readNode();
    expect(status?.volumesAttached).toEqual([{ name: uniqueName, devicePath: '' }]);
    expect(status?.volumesInUse).toEqual([uniqueName]);
    await client.delete(Pods, key, {}, signal);
    await eventually(async () => {
      const { items } = await client.listAll(VolumeAttachments, {}, signal);
      return items.every((attachment) => attachment.spec.nodeName !== nodeName);
    }, signal);
    expect((await readNode()).status?.volumesAttached).toBeUndefined();
    expect((await client.get(CSINodes, objectKey(undefined, nodeName), signal)).spec.drivers).toHaveLength(1);
  } finally {
    await stop();
  }
});

/** A manager attaches; while none runs, pods come and go; the next one continues. */
test.for<ManagerName>(['ours', 'go'])(
  'after a restart, %s detaches what is not needed any more',
  async (manager, { signal }) => {
    const { client } = nodes();
    const namespace = await createNamespace(cluster());
    const user = new AttachUser(client, namespace, signal);
    const start = () => startEither(manager, cluster(), { controllers: ['persistentvolume-attach-detach-controller'] });
    let stop = await start();
    try {
      await user.node('node');
      for (const name of ['kept', 'gone', 'new']) await user.boundClaim(name);
      for (const name of ['kept', 'gone']) {
        await user.pod(name, 'node', name);
        await user.setAttachment(user.attachmentName(name, 'node'), { attached: true });
      }
      await user.untilReported('node', user.uniqueName('kept'), user.uniqueName('gone'));
      await stop();
      await user.deletePod('gone');
      await user.pod('new', 'node', 'new');
      stop = await start();
      await user.letGo(user.attachmentName('gone', 'node'));
      await user.setAttachment(user.attachmentName('new', 'node'), { attached: true });
      await user.untilReported('node', user.uniqueName('kept'), user.uniqueName('new'));
      const { items } = await client.listAll(VolumeAttachments, {}, signal);
      const own = items
        .filter(({ spec }) => spec.nodeName === user.nameOf('node'))
        .map(({ metadata }) => metadata.name);
      expect(own.sort()).toEqual(['kept', 'new'].map((name) => user.attachmentName(name, 'node')).sort());
    } finally {
      await stop();
    }
  },
);

/** While no manager runs, a Node is deleted that used a volume. Its VolumeAttachment stays until somebody deletes it. */
test.for<ManagerName>(['ours', 'go'])(
  'after a restart, %s attaches an exclusive volume of a deleted Node to the next one',
  async (manager, { signal }) => {
    const { client } = nodes();
    const user = new AttachUser(client, await createNamespace(cluster()), signal);
    const attachment = user.attachmentName('disk', 'removed');
    const start = () => startEither(manager, cluster(), { controllers: ['persistentvolume-attach-detach-controller'] });
    let stop = await start();
    try {
      for (const node of ['removed', 'next']) await user.node(node);
      await user.boundClaim('disk');
      await user.pod('before', 'removed', 'disk');
      await user.setAttachment(attachment, { attached: true });
      await user.untilReported('removed', user.uniqueName('disk'));
      await user.use('removed', user.uniqueName('disk'));
      await stop();
      await user.volumes.delete(Nodes, 'removed');
      await user.deletePod('before');
      await user.pod('after', 'next', 'disk');
      stop = await start();
      await client.delete(VolumeAttachments, objectKey(undefined, attachment), {}, signal);
      await user.letGo(attachment);
      await user.setAttachment(user.attachmentName('disk', 'next'), { attached: true });
      await user.untilReported('next', user.uniqueName('disk'));
      const { items } = await client.listAll(VolumeAttachments, {}, signal);
      const own = items.filter(({ spec }) => spec.nodeName.startsWith(user.nameOf('')));
      expect(own.map(({ metadata }) => metadata.name)).toEqual([user.attachmentName('disk', 'next')]);
    } finally {
      await stop();
    }
  },
);
