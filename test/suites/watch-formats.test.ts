import { expect, test } from 'vitest';

import { apiVersionOf, defineKind, metadataOf, type Kind, type KubeObject } from '../../pkg/api/index.ts';
import type { WatchOptions } from '../../pkg/client/index.ts';
import { messageOf } from '../../pkg/protobuf/index.ts';
import { readServedKinds } from '../support/hostile/schema.ts';
import { Stranger } from '../support/hostile/stranger.ts';
import { useStrangers } from './use-strangers.ts';

/** Objects with every field that hostile users think of. Lists are read as JSON, and watches as protobuf. */
const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
const objects = Number(process.env['HOSTILE_OBJECTS'] ?? 300);
const atOnce = 8;

const { sender, client } = useStrangers();

/** The kinds that the server has and that can be decoded. */
async function describedKinds(): Promise<readonly Kind[]> {
  const served = await readServedKinds(sender());
  return served
    .filter(({ group, version, kind }) => messageOf(apiVersionOf({ group, version }), kind) !== undefined)
    .map(({ group, version, kind, resource, namespaced }) =>
      defineKind({ group, version, kind, resource, namespaced }),
    );
}

async function watched(kind: Kind, options: WatchOptions, signal: AbortSignal): Promise<Map<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } as const;
  for await (const event of client().watch(kind, { ...initial, ...options }, signal)) {
    if (event.type === 'BOOKMARK') break;
    found.set(event.object.metadata.uid, event.object);
  }
  return found;
}

async function listed(kind: Kind, signal: AbortSignal): Promise<Map<string, KubeObject>> {
  const { items } = await client().listAll(kind, {}, signal);
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const own = kind.metadataOnly === true ? {} : head; // items of such a list have their type
  return new Map(items.map((item) => [item.metadata.uid, { ...own, ...item }]));
}

/** Compares all objects of a kind. Returns their number, and how many share labels with another one. */
async function compare(kind: Kind, signal: AbortSignal): Promise<{ compared: number; shared: number }> {
  const expected = await listed(kind, signal);
  // The server itself writes some objects, such as its Lease, at any time.
  const isListed = ({ metadata: { uid, resourceVersion } }: KubeObject): boolean =>
    expected.get(uid)?.metadata.resourceVersion === resourceVersion;
  const separate = [...(await watched(kind, {}, signal)).values()].filter(isListed);
  const sharing = [...(await watched(kind, { sharesParts: true }, signal)).values()].filter(isListed);
  for (const objects of [separate, sharing]) {
    expect(objects).toEqual(objects.map(({ metadata }) => expected.get(metadata.uid)));
  }
  const labels = sharing.map(({ metadata }) => metadata.labels).filter((map) => map !== undefined);
  return { compared: sharing.length, shared: labels.length - new Set(labels).size };
}

test(`${objects} hostile objects of seed ${seed} are the same in protobuf and JSON`, async ({ signal, annotate }) => {
  const stranger = new Stranger({ sender: sender(), kinds: await readServedKinds(sender()), seed });
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
