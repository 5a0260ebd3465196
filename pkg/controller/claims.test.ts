import { describe, expect, test } from 'vitest';

import { compileSelector, keyOf, Pods, ReplicaSets, type ObjectKey, type Pod, type ReplicaSet } from '../api/index.ts';
import * as build from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { createClaims, type Claims } from './claims.ts';
import { PendingWrites } from './pending-writes.ts';
import { TerminalError } from './reconcile.ts';

const selector = { matchLabels: { app: 'web' } };
const web = build.replicaSet({ name: 'web', spec: { selector } });
const orphan = build.pod({ name: 'orphan', labels: { app: 'web' } });
const stranger = build.pod({ name: 'stranger', labels: { app: 'db' } });

function setUp(owners: readonly ReplicaSet[], pods: readonly Pod[]): Claims<ReplicaSet, Pod> {
  const dependents = new FakeInformer<Pod>(Pods, pods);
  return createClaims<ReplicaSet, Pod>({
    client: new RecordingClient(),
    owners: new FakeInformer<ReplicaSet>(ReplicaSets, owners),
    dependents,
    selectorOf: ({ spec }) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }) => spec.selector.matchLabels ?? {},
    written: new PendingWrites<Pod>(dependents, { monotonic: () => 0 }),
  });
}

describe('createClaims', () => {
  test('plans to adopt the orphans that the owner selects, and no others', () => {
    const plan = setUp([web], [orphan, stranger]).plan(web);
    expect(plan.adopt.map(({ metadata }) => metadata.name)).toEqual(['orphan']);
    expect([plan.claimed, plan.release]).toEqual([[], []]);
  });

  test('leaves out objects that are not candidates', () => {
    expect(setUp([web], [orphan]).plan(web, () => false).adopt).toEqual([]);
  });

  test('enqueues every owner that may adopt a new orphan', () => {
    const queued: ObjectKey[] = [];
    const other = build.replicaSet({ name: 'other', spec: { selector: { matchLabels: { app: 'db' } } } });
    const handler = setUp([web, other], []).handler({ add: (key) => queued.push(key) });
    handler.added?.(build.frozen(orphan), false);
    expect(queued).toEqual([keyOf(web)]);
  });

  test('an unusable selector is a terminal error of its owner, and selects nothing for others', () => {
    const invalid = { matchExpressions: [{ key: 'app', operator: 'Nonsense' }] };
    const broken = build.replicaSet({ name: 'broken', spec: { selector: invalid } });
    const queued: ObjectKey[] = [];
    const claims = setUp([broken], [orphan]);
    expect(() => claims.plan(broken)).toThrow(TerminalError);
    claims.handler({ add: (key) => queued.push(key) }).added?.(build.frozen(orphan), false);
    expect(queued).toEqual([]);
  });
});
