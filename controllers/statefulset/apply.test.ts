import { describe, expect, test } from 'vitest';

import { keyOf, PersistentVolumeClaims, Pods, type PersistentVolumeClaim, type Pod } from '../../pkg/api/index.ts';
import { PendingWrites } from '../../pkg/controller/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { frozen, persistentVolumeClaim, pod, statefulSet } from '../../test/support/builders.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { applyPods } from './apply.ts';
import { newPod } from './identity.ts';
import type { PodsPlan, Step } from './plan.ts';

const set = frozen(statefulSet({ name: 'web' }));
const { signal } = new AbortController();
const version = { name: 'web-1', template: { spec: { containers: [] } } };
const unsaved = (ordinal: number) => newPod(set, { current: version, update: version }, ordinal);
const claim = (name: string) => ({ metadata: { namespace: 'default', name }, spec: {} });
const noRetention = { conflicts: [], update: [] };
const noClaims = { create: [], terminating: [] };
const create = (ordinal: number, more: Partial<Extract<Step, { kind: 'create' }>> = {}): Step => ({
  kind: 'create',
  pod: unsaved(ordinal),
  claims: noClaims,
  retention: noRetention,
  ...more,
});
const planOf = (plan: Partial<PodsPlan>): PodsPlan => ({
  isOrdered: true,
  replicas: [],
  retention: [],
  scaleDown: [],
  reachesUpdate: true,
  outdated: [],
  ...plan,
});

function setUp() {
  const client = new RecordingClient();
  const events: NewEvent[] = [];
  const store = { get: () => undefined, hasSeen: () => false };
  const clock = { monotonic: () => 0 };
  const deps = {
    client,
    recorder: { event: (_kind: unknown, _about: unknown, event: NewEvent) => void events.push(event) },
    pendingPods: new PendingWrites<Pod>({ kind: Pods, store }, clock),
    pendingClaims: new PendingWrites<PersistentVolumeClaim>({ kind: PersistentVolumeClaims, store }, clock),
  };
  const written = () => client.writes.map(({ verb, resource, key }) => `${verb} ${resource} ${key}`);
  const said = () => events.map(({ reason, message }) => `${reason}: ${message}`);
  return { client, deps, written, said };
}

describe('applyPods', () => {
  test('creates the claims of a pod, then the pod, and waits for both', async () => {
    const { deps, written, said } = setUp();
    const claims = { create: [claim('data-web-0'), claim('log-web-0')], terminating: [] };
    const outcome = await applyPods(planOf({ replicas: [[create(0, { claims })]] }), set, deps, signal);
    expect(outcome).toEqual({ deletedForUpdate: 0, reachedUpdate: true, changesPods: true, error: undefined });
    expect(written()).toEqual([
      'create persistentvolumeclaims default/data-web-0',
      'create persistentvolumeclaims default/log-web-0',
      'create pods default/web-0',
    ]);
    expect(said()).toEqual([
      'SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'SuccessfulCreate: Create Claim log-web-0 Pod web-0 in StatefulSet web success',
      'SuccessfulCreate: Create Pod web-0 in StatefulSet web successful',
    ]);
    expect([deps.pendingPods, deps.pendingClaims].map((pending) => pending.isSettled(keyOf(set)))).toEqual([
      false,
      false,
    ]);
  });

  test('creates no pod without its claims, and reports the reason for each', async () => {
    const { client, deps, written, said } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'no storage left');
    });
    const claims = { create: [claim('data-web-0')], terminating: ['log-web-0'] };
    const { error } = await applyPods(planOf({ replicas: [[create(0, { claims })]] }), set, deps, signal);
    const text = '[pvc log-web-0 is being deleted, failed to create PVC data-web-0: no storage left]';
    expect(error?.message).toBe(text);
    expect(written()).toEqual(['create persistentvolumeclaims default/data-web-0']);
    expect(said()).toEqual([
      'FailedCreate: Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: no storage left',
      `FailedCreate: Create Pod web-0 in StatefulSet web failed error: ${text}`,
    ]);
  });

  test('records no event for a pod that already exists', async () => {
    const { client, deps, said } = setUp();
    client.seed(Pods, pod({ name: 'web-0' }));
    const { error } = await applyPods(planOf({ replicas: [[create(0)]] }), set, deps, signal);
    expect(error).toMatchObject({ reason: 'AlreadyExists' });
    expect(said()).toEqual([]);
  });

  test('gives claims their owners even if the pod is refused', async () => {
    const { client, deps, written, said } = setUp();
    const kept = frozen(client.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data-web-0' })));
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'exceeded quota');
    });
    const retention = { conflicts: [], update: [{ claim: kept, owners: [] }] };
    const { error } = await applyPods(planOf({ replicas: [[create(0, { retention })]] }), set, deps, signal);
    expect(error).toMatchObject({ reason: 'Forbidden' });
    expect(written()).toEqual(['create pods default/web-0', 'update persistentvolumeclaims default/data-web-0']);
    expect(said()).toEqual(['FailedCreate: Create Pod web-0 in StatefulSet web failed error: exceeded quota']);
  });

  test('in order, takes no step after a failed one; in parallel, takes all of the same batch', async () => {
    for (const { isOrdered, attempts } of [
      { isOrdered: true, attempts: 1 },
      { isOrdered: false, attempts: 3 },
    ]) {
      const { client, deps, written } = setUp();
      const doomed = isOrdered ? 'web-0' : 'web-1';
      client.before('create', ({ key }) => {
        if (key?.endsWith(doomed) === true) throw apiError(403, 'Forbidden', 'no');
      });
      const replicas = [0, 1, 2, 3, 4].map((ordinal) => [create(ordinal)]);
      const scaleDown = [frozen(pod({ name: 'web-9' }))];
      const outcome = await applyPods(planOf({ isOrdered, replicas, scaleDown }), set, deps, signal);
      expect(outcome).toMatchObject({ reachedUpdate: false, error: { reason: 'Forbidden' } });
      expect(written()).toHaveLength(attempts);
    }
  });

  test('deletes a pod by its uid, and counts those of an update', async () => {
    const { client, deps, said } = setUp();
    const outdated = [frozen(client.seed(Pods, pod({ name: 'web-2' }))), frozen(pod({ name: 'web-1' }))];
    const outcome = await applyPods(planOf({ outdated }), set, deps, signal);
    expect(outcome).toMatchObject({ deletedForUpdate: 2, error: undefined }); // one was already deleted
    const uids = outdated.map(({ metadata }) => ({ preconditions: { uid: metadata.uid } }));
    expect(client.writes.map(({ body }) => body)).toEqual(uids);
    expect(said()).toEqual([
      'SuccessfulDelete: Delete Pod web-2 in StatefulSet web successful',
      'SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful',
    ]);
  });

  test('warns of a claim with another controller', async () => {
    const { deps, said } = setUp();
    const step: Step = {
      kind: 'provide',
      podName: 'web-0',
      claims: noClaims,
      retention: { conflicts: ['data-web-0'], update: [] },
    };
    await applyPods(planOf({ replicas: [[step]] }), set, deps, signal);
    expect(said()).toEqual([expect.stringContaining('ConflictingController: PersistentVolumeClaim data-web-0')]);
  });

  test('records no event for a conflict', async () => {
    const { client, deps, said } = setUp();
    const stored = client.seed(Pods, pod({ name: 'web-0' }));
    client.before('update', () => {
      throw apiError(409, 'Conflict');
    });
    const step: Step = { kind: 'update', podName: 'web-0', fixed: stored, claims: noClaims, retention: noRetention };
    const { error } = await applyPods(planOf({ replicas: [[step]] }), set, deps, signal);
    expect(error).toMatchObject({ reason: 'Conflict' });
    expect(said()).toEqual([]);
  });
});
