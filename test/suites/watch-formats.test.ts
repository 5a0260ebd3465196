import { afterAll, beforeAll, expect, test } from 'vitest';

import { apiVersionOf, defineKind, metadataOf, type Kind, type KubeObject } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client, type WatchOptions } from '../../pkg/client/index.ts';
import { messageOf } from '../../pkg/protobuf/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { readServedKinds } from '../support/hostile/schema.ts';
import { createSender, type Sender } from '../support/hostile/sender.ts';
import { Stranger } from '../support/hostile/stranger.ts';
import { useCluster } from './use-cluster.ts';

/** Objects with every field that hostile users think of. Lists are read as JSON, and watches as protobuf. */
const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
const objects = Number(process.env['HOSTILE_OBJECTS'] ?? 300);
const atOnce = 8;

const cluster = useCluster();
let sender: Sender;
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  sender = createSender(cluster());
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
  client = clients.clientFor('test');
});

afterAll(() => {
  clients?.close();
  sender?.[Symbol.dispose]();
});

/** The kinds that the server has and that can be decoded. */
async function describedKinds(): Promise<readonly Kind[]> {
  const served = await readServedKinds(sender);
  return served
    .filter(({ group, version, kind }) => messageOf(apiVersionOf({ group, version }), kind) !== undefined)
    .map(({ group, version, kind, resource, namespaced }) =>
      defineKind({ group, version, kind, resource, namespaced }),
    );
}

async function watched(kind: Kind, options: WatchOptions, signal: AbortSignal): Promise<Map<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } as const;
  for await (const event of client.watch(kind, { ...initial, ...options }, signal)) {
    if (event.type === 'BOOKMARK') break;
    found.set(event.object.metadata.uid, event.object);
  }
  return found;
}

async function listed(kind: Kind, signal: AbortSignal): Promise<Map<string, KubeObject>> {
  const { items } = await client.listAll(kind, {}, signal);
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const own = kind.metadataOnly === true ? {} : head; // items of such a list have their type
  return new Map(items.map((item) => [item.metadata.uid, { ...own, ...item }]));
}

/** Compares all objects of a kind. Returns their number, and how many share labels with another one. */
async function compare(kind: Kind, signal: AbortSignal): Promise<{ compared: number; shared: number }> {
  const scope = { kind: kind.resource, metadataOnly: kind.metadataOnly };
  const expected = { ...scope, objects: await listed(kind, signal) };
  expect({ ...scope, objects: await watched(kind, {}, signal) }).toEqual(expected);
  const sharing = await watched(kind, { sharesParts: true }, signal);
  expect({ ...scope, objects: sharing }).toEqual(expected);
  const labels = [...sharing.values()].map(({ metadata }) => metadata.labels).filter((map) => map !== undefined);
  return { compared: sharing.size, shared: labels.length - new Set(labels).size };
}

test(`${objects} hostile objects of seed ${seed} are the same in protobuf and JSON`, async ({ signal, annotate }) => {
  const stranger = new Stranger({ sender, kinds: await readServedKinds(sender), seed });
  await stranger.learn('default');
  const described = await describedKinds();
  await stranger.moveIn('formats');
  const act = async (): Promise<void> => {
    while (stranger.counts.created < objects) await stranger.act();
  };
  await Promise.all(Array.from({ length: atOnce }, act));
  let compared = 0;
  let shared = 0;
  for (const kind of [...described, ...described.map(metadataOf)]) {
    const counts = await compare(kind, signal);
    compared += counts.compared;
    shared += counts.shared;
  }
  await annotate(JSON.stringify({ kinds: described.length, compared, shared }));
  expect(described.length).toBeGreaterThan(40);
  expect(compared).toBeGreaterThan(objects);
  expect(shared).toBeGreaterThan(0); // only protobuf lets objects share anything
});
