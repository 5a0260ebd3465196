import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { ConfigMaps, defineKind, Secrets, type KubeObject } from '../api/index.ts';
import { isNotFound } from '../client/index.ts';
import { TerminalError } from '../controller/index.ts';
import { controllerFor, DefinitionError, defineResource, watch, type ReconcileContext } from '../operator/index.ts';
import { build, configMap, secret } from './builders.ts';
import { apiError } from './object-store.ts';
import { simulate } from './simulate.ts';

const Widgets = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int32().default(3), parts: z.array(z.object({ count: z.int32().default(1) })).default([]) }),
  status: z.object({ ready: z.boolean() }),
});
const Notes = defineResource({ group: 'example.com', version: 'v1', kind: 'Note', spec: z.object({}) });

function configMaps(reconcile: (context: ReconcileContext) => Promise<void>) {
  return controllerFor(ConfigMaps, { name: 'test', reconcile: (_, context) => reconcile(context) });
}
const ref = { namespace: 'default', name: 'a' };

describe('a mistake in a reconcile', () => {
  const mistaken = configMaps(async ({ store }) => void store(Secrets));

  test('fails the simulation', async () => {
    await expect(simulate(mistaken, [configMap({ name: 'a' })])).rejects.toThrow(
      'the reconcile of default/a failed: DefinitionError: test does not watch Secret',
    );
  });

  test('fails a later settle, once', async () => {
    await using run = await simulate(mistaken);
    await run.client.create(ConfigMaps, configMap());
    await expect(run.settle()).rejects.toThrow('DefinitionError');
    await run.settle();
  });

  test('fails the test at its end, if it never settles', async () => {
    const run = await simulate(mistaken);
    await run.client.create(ConfigMaps, configMap());
    await run.clock.advance(0);
    await expect(run[Symbol.asyncDispose]()).rejects.toThrow('DefinitionError');
  });

  test('does not fail a test that has read it', async () => {
    const run = await simulate(mistaken);
    await run.client.create(ConfigMaps, configMap({ name: 'a' }));
    await run.clock.advance(0);
    expect(run.errors).toEqual([{ object: 'default/a', error: expect.any(Error) }]);
    await run[Symbol.asyncDispose]();
  });

  test('does not fail a test that expects errors', async () => {
    await using run = await simulate(mistaken, [configMap({ name: 'a' })], { expectsErrors: true });
    await run.settle();
    expect(run.errors).toHaveLength(1);
  });

  test('may also be one of a map', async () => {
    const map = () => {
      throw new TypeError('no such field');
    };
    const controller = controllerFor(ConfigMaps, {
      name: 'test',
      watches: [watch(Secrets, { map })],
      reconcile: async () => {},
    });
    await expect(simulate(controller, [secret()])).rejects.toThrow('an event handler failed: TypeError: no such field');
  });
});

test.for([
  { name: 'an operation on undefined', error: new TypeError("Cannot read properties of undefined (reading 'x')") },
  { name: 'an unknown name', error: new ReferenceError('x is not defined') },
  { name: 'a value out of range', error: new RangeError('Invalid array length') },
  { name: 'a wrapped mistake of a definition', error: new Error('sync', { cause: new DefinitionError('no schema') }) },
])('$name is a mistake', async ({ error }) => {
  const failing = configMaps(async () => {
    throw error;
  });
  await expect(simulate(failing, [configMap({ name: 'a' })])).rejects.toThrow(error.message);
});

test.for([
  { name: 'an answer of the server', error: apiError(500, 'InternalError') },
  { name: 'a lost connection of fetch', error: new TypeError('fetch failed', { cause: new Error('ECONNRESET') }) },
  {
    name: 'an error with a code of Node.js',
    error: Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' }),
  },
  {
    name: 'a TypeError that the author has wrapped',
    error: new Error('no port', { cause: new TypeError('Invalid URL') }),
  },
  { name: 'a RangeError that the author has wrapped', error: new Error('no port', { cause: new RangeError('-1') }) },
  { name: 'a terminal error', error: new TerminalError('bad spec', { cause: new DefinitionError('no schema') }) },
])('$name is no mistake, but one of the errors', async ({ error }) => {
  const failing = configMaps(async () => {
    throw error;
  });
  await using run = await simulate(failing, [configMap({ name: 'a' })]);
  expect(run.errors).toEqual([{ object: 'default/a', error }]);
});

test('a conflict is not one of the errors', async () => {
  let calls = 0;
  const conflicting = configMaps(async () => {
    calls += 1;
    if (calls === 1) throw apiError(409, 'Conflict');
  });
  await using run = await simulate(conflicting, [configMap()]);
  await run.clock.advance(5);
  expect(calls).toBe(2);
  expect(run.errors).toEqual([]);
});

describe('the objects at the start', () => {
  const Gadgets = defineKind<KubeObject>({
    group: 'example.com',
    version: 'v1',
    kind: 'Gadget',
    resource: 'gadgets',
    namespaced: true,
  });
  test('may be of kinds that the controller only reads by its client', async () => {
    const read: string[] = [];
    const controller = configMaps(async ({ client }) => {
      for (const kind of [Secrets, Gadgets]) read.push((await client.get<typeof Gadgets>(kind, ref)).metadata.uid);
    });
    const gadget = build(Gadgets, { name: 'a' }, {});
    await using _ = await simulate(controller, [configMap(), secret({ name: 'a' }), { kind: Gadgets, object: gadget }]);
    expect(read).toEqual(['uid-secret-default-a', 'uid-gadget-default-a']);
  });

  test('are refused if their kind is not known', async () => {
    const simulated = simulate(
      configMaps(async () => {}),
      [build(Gadgets, { name: 'a' }, {})],
    );
    await expect(simulated).rejects.toThrow('names no kind example.com/v1 Gadget: give the object as { kind, object }');
  });
});

describe('the client of a simulation', () => {
  const idle = controllerFor(Widgets, { name: 'test', reads: [Notes], reconcile: async () => {} });
  const widget = build(Widgets, { name: 'a' }, { spec: { size: 3, parts: [] } });

  test('refuses references that name no object, as a real one', async () => {
    await using run = await simulate(idle);
    const wrong = { name: 'a' };
    await expect(run.client.find(Widgets, wrong)).rejects.toThrow('a namespace is needed');
    await expect(run.client.delete(Widgets, wrong)).rejects.toThrow('a namespace is needed');
    await expect(run.client.patch(Widgets, wrong, {})).rejects.toThrow('a namespace is needed');
    await expect(run.client.create(Widgets, { metadata: wrong, spec: {} })).rejects.toThrow('a namespace is needed');
  });

  test('fills in the defaults of a custom resource', async () => {
    await using run = await simulate(idle);
    const made = await run.client.create(Widgets, { metadata: ref, spec: { parts: [{}] } });
    expect(made.spec).toEqual({ size: 3, parts: [{ count: 1 }] });
    const patched = await run.client.patch(Widgets, ref, { spec: { size: null } });
    expect(patched.spec.size).toBe(3);
    expect(patched.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test('fills them in for the objects at the start', async () => {
    const seeded = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: widget.metadata, spec: {} };
    await using run = await simulate(idle, [seeded]);
    expect((await run.client.get(Widgets, ref)).spec).toEqual({ size: 3, parts: [] });
  });

  test('fills them in for objects of the builders', async () => {
    const built = build(Widgets, { name: 'a' }, { spec: { parts: [{}] } });
    expect(built.spec).toEqual({ size: 3, parts: [{ count: 1 }] });
    // @ts-expect-error: the spec has no such field
    build(Widgets, { name: 'a' }, { spec: { sizes: 3 } });
    await using run = await simulate(idle, [built]);
    expect(await run.client.get(Widgets, ref)).toEqual(built);
  });

  test('writes no status of a kind that has none', async () => {
    await using run = await simulate(idle, [
      widget,
      build(Notes, { name: 'a' }, { spec: {} }),
      configMap({ name: 'a' }),
    ]);
    for (const kind of [Notes, ConfigMaps]) {
      const change = { ready: true } as never;
      await expect(run.client.patchStatus<typeof kind>(kind, ref, change)).rejects.toSatisfy(isNotFound);
    }
    expect((await run.client.patchStatus(Widgets, ref, { ready: true })).status).toEqual({ ready: true });
  });

  test('creates objects of the builders, without their status', async () => {
    await using run = await simulate(idle);
    const given = build(Widgets, { name: 'a' }, { spec: { size: 1, parts: [] }, status: { ready: true } });
    const made = await run.client.create(Widgets, given);
    expect(made.metadata).toMatchObject({ name: 'a', generation: 1, resourceVersion: '1' });
    expect(made.status).toBeUndefined();
    expect((await run.client.create(ConfigMaps, configMap({ name: 'a' }))).metadata.uid).not.toBe(
      'uid-configmap-default-a',
    );
  });
});
