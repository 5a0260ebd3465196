import { describe, expect, test } from 'vitest';

import { Pods, ReplicaSets, type Pod, type ReplicaSet } from '../api/index.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { frozen, pod, replicaSet } from '../../test/support/builders.ts';
import { createPod, deletePod, podFromTemplate, type PodControl } from './pod-control.ts';

const owner = frozen(replicaSet({ name: 'web' }));
const { signal } = new AbortController();

function setUp(): { client: RecordingClient; control: PodControl<ReplicaSet>; events: string[] } {
  const client = new RecordingClient();
  const events: string[] = [];
  const recorder = {
    event: (_kind: unknown, _about: unknown, event: { type: string; reason: string; message: string }) =>
      void events.push(`${event.type} ${event.reason} ${event.message}`),
  };
  return { client, control: { client, recorder, ownerKind: ReplicaSets }, events };
}

const unsaved = podFromTemplate(owner.spec.template ?? {}, ReplicaSets, owner);

describe('podFromTemplate', () => {
  test('takes labels, annotations, finalizers and spec from the template, and nothing else', () => {
    const template = frozen({
      metadata: {
        labels: { app: 'web' },
        annotations: { note: 'x' },
        finalizers: ['example.com/hold'],
        name: 'ignored',
      },
      spec: { containers: [{ name: 'app', image: 'example' }] },
    });
    const made = podFromTemplate(template, ReplicaSets, owner);
    expect(made).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        generateName: 'web-',
        namespace: 'default',
        labels: { app: 'web' },
        annotations: { note: 'x' },
        finalizers: ['example.com/hold'],
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'web',
            uid: owner.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { containers: [{ name: 'app', image: 'example' }] },
    });
    expect(Object.isFrozen(made.spec)).toBe(false);
  });

  const names = [
    { name: 'web', expected: 'web-' },
    { name: 'x'.repeat(252), expected: `${'x'.repeat(252)}-` },
    { name: 'x'.repeat(253), expected: 'x'.repeat(253) },
  ];
  for (const { name, expected } of names) {
    test(`calls the pods of an owner with a name of ${name.length} letters after it`, () => {
      const made = podFromTemplate({}, ReplicaSets, replicaSet({ name }));
      expect(made.metadata.generateName).toBe(expected);
    });
  }
});

describe('createPod', () => {
  test('records an event for a created pod', async () => {
    const { client, control, events } = setUp();
    const created = await createPod(control, owner, unsaved, signal);
    expect(events).toEqual([`Normal SuccessfulCreate Created pod: ${created.metadata.name}`]);
    expect(client.stored(Pods)).toHaveLength(1);
  });

  test('records an event with the message of the API server', async () => {
    const { client, control, events } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'pods "web-" is forbidden: exceeded quota');
    });
    await expect(createPod(control, owner, unsaved, signal)).rejects.toThrow('exceeded quota');
    expect(events).toEqual(['Warning FailedCreate Error creating: pods "web-" is forbidden: exceeded quota']);
  });
});

describe('deletePod', () => {
  const target = (client: RecordingClient): Pod => client.seed(Pods, pod({ name: 'a' }));

  test('deletes by uid and records an event', async () => {
    const { client, control, events } = setUp();
    const seeded = target(client);
    expect(await deletePod(control, owner, seeded, signal)).toBe(true);
    expect(client.writes).toEqual([
      { verb: 'delete', resource: 'pods', key: 'default/a', body: { preconditions: { uid: seeded.metadata.uid } } },
    ]);
    expect(events).toEqual(['Normal SuccessfulDelete Deleted pod: a']);
  });

  test('records no event for a pod that is gone', async () => {
    const { client, control, events } = setUp();
    client.before('delete', () => {
      throw apiError(404, 'NotFound');
    });
    expect(await deletePod(control, owner, target(client), signal)).toBe(false);
    expect(events).toEqual([]);
  });

  test('does not take a conflict for the word that the pod is gone', async () => {
    const { client, control, events } = setUp();
    client.before('delete', () => {
      throw apiError(409, 'Conflict');
    });
    await expect(deletePod(control, owner, target(client), signal)).rejects.toThrow('delete pod default/a');
    expect(events).toEqual([]);
  });

  test('records an event for a rejected deletion', async () => {
    const { client, control, events } = setUp();
    client.before('delete', () => {
      throw apiError(500, 'InternalError', 'no');
    });
    await expect(deletePod(control, owner, target(client), signal)).rejects.toThrow('delete pod default/a');
    expect(events).toEqual(['Warning FailedDelete Error deleting: no']);
  });
});
