import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { keyOf, Services } from '../api/index.ts';
import { ConnectionError } from '../client/index.ts';
import { build } from '../../test/support/builders.ts';
import { apiError, type Action } from '../../test/support/recording-client.ts';
import { simulate } from '../../test/support/simulate.ts';
import { conditionsSchema } from './conditions.ts';
import { controllerFor } from './controller.ts';
import { defineResource } from './resource.ts';

const Widgets = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ type: z.string() }),
  status: z.object({ conditions: conditionsSchema, made: z.int32() }),
});
const widgets = controllerFor(Widgets, {
  name: 'widgets',
  owns: [Services],
  finalizer: { name: 'example.com/widget', cleanup: async () => {} },
  async reconcile({ metadata, spec }, { ensure, owned, patchStatus }) {
    await ensure(Services, { metadata: { name: metadata.name }, spec: { type: spec.type } });
    const ready = { type: 'Ready', status: 'True', reason: 'Made' } as const;
    await patchStatus({ made: Math.max(1, owned(Services).length), conditions: [ready] });
  },
});
const widget = build(Widgets, { name: 'a' }, { spec: { type: 'ClusterIP' } });

interface Fault {
  /** Before the call takes effect, or after it: then only the response is lost. */
  readonly when: 'before' | 'after';
  /** The call that fails, counted from 0. Undefined: none. */
  readonly call: number | undefined;
  readonly error: () => Error;
}

/** A widget is created, changed and deleted. Returns the calls of the controller, and the states that a user sees. */
async function runScenario({ when, call, error }: Fault): Promise<{ actions: readonly Action[]; states: unknown[] }> {
  await using run = await simulate(widgets);
  const { client, clock, controllerClient } = run;
  let count = 0;
  controllerClient[when]('*', () => {
    count += 1;
    if (count - 1 === call) throw error();
  });
  const settled = async (): Promise<unknown> => {
    await run.settle();
    await clock.advance(5000);
    await run.settle();
    const [found, service] = [await client.find(Widgets, widget), await client.find(Services, widget)];
    const ready = found?.status?.conditions?.map(({ type, status }) => `${type}=${status}`);
    return { finalizers: found?.metadata.finalizers, made: found?.status?.made, ready, type: service?.spec.type };
  };
  const { uid: _, resourceVersion: _version, creationTimestamp: _time, ...metadata } = widget.metadata;
  await client.create(Widgets, { metadata, spec: widget.spec });
  const made = await settled();
  await client.patch(Widgets, widget, { spec: { type: 'NodePort' } });
  const changed = await settled();
  await client.delete(Widgets, keyOf(widget));
  const states = [made, changed, await settled()];
  return { actions: [...controllerClient.actions], states };
}

const errors = {
  'a lost connection': () => new ConnectionError('lost', { mayHaveBeenSent: true }),
  'an overloaded server': () => apiError(500, 'InternalError'),
  'a conflict': () => apiError(409, 'Conflict'),
};

describe('an operator comes to the same end', async () => {
  const undisturbed = await runScenario({ when: 'before', call: undefined, error: () => new Error('never') });
  test('that its author wants', () => {
    expect(undisturbed.states).toEqual([
      { finalizers: ['example.com/widget'], made: 1, ready: ['Ready=True'], type: 'ClusterIP' },
      { finalizers: ['example.com/widget'], made: 1, ready: ['Ready=True'], type: 'NodePort' },
      { finalizers: undefined, made: undefined, ready: undefined, type: 'NodePort' },
    ]);
  });
  for (const [call, { verb, resource }] of undisturbed.actions.entries()) {
    for (const when of ['before', 'after'] as const) {
      test.for(Object.entries(errors))(`with %s ${when} call ${call}, ${verb} ${resource}`, async ([, error]) => {
        expect((await runScenario({ when, call, error })).states).toEqual(undisturbed.states);
      });
    }
  }
});
