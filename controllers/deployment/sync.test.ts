import { describe, expect, test } from 'vitest';

import { Deployments, type Deployment, type DeploymentStatus, type ReplicaSet } from '../../pkg/api/index.ts';
import { container, creationTime, deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import type { Action, Snapshot } from './plan.ts';
import { planSync } from './sync.ts';

const createdMs = Date.parse(creationTime);
const web = (
  spec: Partial<Deployment['spec']> = {},
  status: DeploymentStatus = {},
  annotations?: Record<string, string>,
): Deployment =>
  deployment({
    name: 'web',
    spec: { replicas: 4, ...spec },
    status,
    ...(annotations === undefined ? {} : { annotations }),
  });

const oldTemplate = { metadata: { labels: { app: 'web' } }, spec: { containers: [container({ image: 'old' })] } };

interface SetShape {
  readonly replicas?: number;
  readonly available?: number;
  readonly old?: boolean;
  readonly revision?: number;
  readonly sizedFor?: number;
}

function ownedSet(owner: Deployment, name: string, shape: SetShape = {}): ReplicaSet {
  const { replicas = 4, available = replicas, old = false, revision = 1, sizedFor = 4 } = shape;
  return replicaSet({
    name,
    owner: { kind: Deployments, object: owner },
    annotations: {
      'deployment.kubernetes.io/revision': String(revision),
      'deployment.kubernetes.io/desired-replicas': String(sizedFor),
      'deployment.kubernetes.io/max-replicas': String(sizedFor + 1),
    },
    spec: { replicas, template: old ? oldTemplate : owner.spec.template },
    status: {
      replicas,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
      terminatingReplicas: 0,
    },
  });
}

function plan(
  owner: Deployment,
  sets: ReplicaSet[] = [],
  overrides: Partial<Snapshot> = {},
): ReturnType<typeof planSync> {
  return planSync({
    deployment: frozen(owner),
    replicaSets: frozen(sets),
    setsWithUnfinishedPods: new Set(),
    countTerminating: true,
    nowMs: createdMs + 60_000,
    ...overrides,
  });
}

/** A plan in words: what is created, resized and deleted, and how the rollout is judged. */
function words(actions: readonly Action[]): string[] {
  return actions.map((action) => {
    switch (action.kind) {
      case 'createReplicaSet':
        return `create ${action.replicaSet.spec.replicas}`;
      case 'patchReplicaSet': {
        const { spec, metadata } = action.patch as { spec: { replicas?: number }; metadata: { annotations?: object } };
        return `patch ${action.key} ${spec.replicas ?? 'annotations'}${metadata.annotations === undefined ? '' : ' annotated'}`;
      }
      case 'deleteReplicaSet':
        return `delete ${action.key}`;
      case 'updateDeployment':
        return 'update deployment';
      case 'updateStatus': {
        const conditions = action.deployment.status?.conditions ?? [];
        return `status ${conditions.map(({ reason }) => reason).join(' ')}`;
      }
      case 'event':
        return `event ${action.event.reason}`;
    }
  });
}

describe('planSync', () => {
  test('creates the first ReplicaSet at full size', () => {
    const { actions } = plan(web());
    expect(words(actions)).toEqual(['create 4', 'status NewReplicaSetCreated MinimumReplicasUnavailable']);
    const [create, status] = actions;
    if (create?.kind !== 'createReplicaSet' || status?.kind !== 'updateStatus') throw new Error('unexpected plan');
    const { metadata, spec } = create.replicaSet;
    const hash = metadata.labels?.['pod-template-hash'];
    expect(metadata.name).toBe(`web-${hash}`);
    expect(spec.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash });
    expect(spec.template?.metadata?.labels).toEqual({ app: 'web', 'pod-template-hash': hash });
    expect(metadata.annotations).toEqual({
      'deployment.kubernetes.io/revision': '1',
      'deployment.kubernetes.io/desired-replicas': '4',
      'deployment.kubernetes.io/max-replicas': '5',
    });
    expect(create.event?.message).toBe(`Scaled up replica set web-${hash} from 0 to 4`);
    expect(status.deployment.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' });
  });

  test('starts a rollout within surge and availability, in one sync', () => {
    const owner = web();
    expect(words(plan(owner, [ownedSet(owner, 'old', { old: true })]).actions)).toEqual([
      'create 1',
      'patch default/old 3',
      'status MinimumReplicasAvailable ReplicaSetUpdated',
    ]);
  });

  test('finds a ReplicaSet by its template with any hash', () => {
    const owner = web();
    const found = ownedSet(owner, 'web-5d4f8c7b9');
    expect(words(plan(owner, [found]).actions)).toEqual(['status MinimumReplicasAvailable NewReplicaSetAvailable']);
  });

  test('writes nothing when the state is as desired, and does not requeue', () => {
    const owner = web();
    const set = ownedSet(owner, 'web-1');
    const [action] = plan(owner, [set]).actions;
    if (action?.kind !== 'updateStatus') throw new Error('unexpected plan');
    const settled = plan(action.deployment as Deployment, [set]);
    expect(settled).toEqual({ actions: [], result: { requeueAfterMs: undefined } });
  });

  test('requeues at the deadline, and then sets the condition', () => {
    const owner = web();
    const set = ownedSet(owner, 'web-1', { available: 1 });
    const [first] = plan(owner, [set]).actions;
    if (first?.kind !== 'updateStatus') throw new Error('unexpected plan');
    const waiting = first.deployment as Deployment;
    const { actions, result } = plan(waiting, [set]);
    expect(actions).toEqual([]);
    expect(result.requeueAfterMs).toBe(601_000);
    const late = plan(waiting, [set], { nowMs: createdMs + 60_000 + 601_000 });
    expect(words(late.actions)).toEqual(['status MinimumReplicasUnavailable ProgressDeadlineExceeded']);
  });

  const shrunk = { ...web().spec, replicas: 2 };
  const rows: { name: string; owner: Deployment; sets: (owner: Deployment) => ReplicaSet[]; expected: string[] }[] = [
    {
      name: 'only counts while the Deployment is being deleted',
      owner: { ...web(), metadata: { ...web().metadata, deletionTimestamp: creationTime } },
      sets: (owner) => [ownedSet(owner, 'old', { old: true, available: 3 })],
      expected: ['status MinimumReplicasAvailable'],
    },
    {
      name: 'scales but does not roll out while paused',
      owner: web({ paused: true, replicas: 6 }),
      sets: (owner) => [ownedSet(owner, 'old', { old: true })],
      expected: ['patch default/old 6 annotated', 'status DeploymentPaused MinimumReplicasUnavailable'],
    },
    {
      name: 'creates nothing while paused',
      owner: web({ paused: true }),
      sets: () => [],
      expected: ['status DeploymentPaused MinimumReplicasUnavailable'],
    },
    {
      name: 'scales before it continues the rollout',
      owner: web(shrunk),
      sets: (owner) => [ownedSet(owner, 'web-1')],
      expected: ['patch default/web-1 2 annotated', 'status FoundNewReplicaSet MinimumReplicasAvailable'],
    },
    {
      name: 'gives a reused ReplicaSet the newest revision',
      owner: web(),
      sets: (owner) => [
        ownedSet(owner, 'web-1', { replicas: 0 }),
        ownedSet(owner, 'web-2', { old: true, revision: 2 }),
      ],
      expected: ['patch default/web-1 1 annotated', 'status MinimumReplicasAvailable ReplicaSetUpdated'],
    },
    {
      name: 'retires everything old before it creates, when the strategy is Recreate',
      owner: web({ strategy: { type: 'Recreate' } }),
      sets: (owner) => [ownedSet(owner, 'old', { old: true })],
      expected: ['patch default/old 0 annotated', 'status MinimumReplicasAvailable ReplicaSetUpdated'],
    },
    {
      name: 'only warns if it selects everything',
      owner: web({ selector: {} }),
      sets: () => [],
      expected: ['event SelectingAll', 'status '],
    },
    {
      name: 'rolls back if the annotation is set',
      owner: web({}, {}, { 'deprecated.deployment.rollback.to': '0' }),
      sets: (owner) => [ownedSet(owner, 'a', { old: true, revision: 1 }), ownedSet(owner, 'b', { revision: 2 })],
      expected: ['update deployment'],
    },
  ];
  const undo = { 'deprecated.deployment.rollback.to': '0' };
  const more: typeof rows = [
    {
      name: 'creates the newest ReplicaSet before it rolls back: the previous revision is relative to it',
      owner: web({}, {}, undo),
      sets: (owner) => [ownedSet(owner, 'old', { old: true })],
      expected: ['create 1', 'status NewReplicaSetCreated MinimumReplicasAvailable'],
    },
    {
      name: 'sets the revision of the newest ReplicaSet before it rolls back',
      owner: web({}, {}, undo),
      sets: (owner) => [
        ownedSet(owner, 'web-1', { revision: 1 }),
        ownedSet(owner, 'web-2', { old: true, revision: 2 }),
      ],
      expected: ['patch default/web-1 annotations annotated'],
    },
    {
      name: 'annotates a ReplicaSet that already has its size, to end the scaling',
      owner: web(shrunk),
      sets: (owner) => [ownedSet(owner, 'web-1', { replicas: 2 })],
      expected: ['patch default/web-1 annotations annotated', 'status FoundNewReplicaSet MinimumReplicasAvailable'],
    },
    {
      name: 'completes scaling with Recreate if two ReplicaSets have pods',
      owner: web({ ...shrunk, strategy: { type: 'Recreate' } }),
      sets: (owner) => [
        ownedSet(owner, 'web-2', { replicas: 1, revision: 2 }),
        ownedSet(owner, 'web-1', { old: true, replicas: 1 }),
      ],
      expected: [
        'patch default/web-2 annotations annotated',
        'patch default/web-1 annotations annotated',
        'status FoundNewReplicaSet MinimumReplicasAvailable',
      ],
    },
    {
      name: 'sets the resumed condition and continues',
      owner: web({}, { conditions: [{ type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' }] }),
      sets: (owner) => [ownedSet(owner, 'web-1', { available: 0 })],
      expected: ['status MinimumReplicasUnavailable ReplicaSetUpdated'],
    },
    {
      name: 'does not hide a missed deadline behind a pause',
      owner: web(
        { paused: true },
        { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
      ),
      sets: (owner) => [ownedSet(owner, 'web-1', { available: 0 })],
      expected: ['status ProgressDeadlineExceeded MinimumReplicasUnavailable'],
    },
    {
      name: 'cleans up history while paused',
      owner: web({ paused: true, revisionHistoryLimit: 0 }),
      sets: (owner) => [
        ownedSet(owner, 'web-2', { revision: 2 }),
        ownedSet(owner, 'web-1', { old: true, replicas: 0 }),
      ],
      expected: ['delete default/web-1', 'status DeploymentPaused MinimumReplicasAvailable'],
    },
  ];
  for (const { name, owner, sets, expected } of [...rows, ...more]) {
    test(name, () => expect(words(plan(owner, sets(owner)).actions)).toEqual(expected));
  }

  test('waits for the last old pod, when the strategy is Recreate', () => {
    const owner = web({ strategy: { type: 'Recreate' } });
    const retired = ownedSet(owner, 'old', { old: true, replicas: 0 });
    expect(
      words(plan(owner, [retired], { setsWithUnfinishedPods: new Set([retired.metadata.uid]) }).actions)[0],
    ).toMatch(/^status/);
    expect(words(plan(owner, [retired]).actions)[0]).toBe('create 4');
  });

  test('cleans up history only when the rollout is complete', () => {
    const status = { replicas: 4, updatedReplicas: 4, availableReplicas: 4, observedGeneration: 1 };
    const sets = (owner: Deployment): ReplicaSet[] => [
      ownedSet(owner, 'web-2', { revision: 2 }),
      ownedSet(owner, 'web-1', { old: true, replicas: 0, revision: 1 }),
    ];
    const done = web({ revisionHistoryLimit: 0 }, status);
    expect(words(plan(done, sets(done)).actions)).toContain('delete default/web-1');
    const underway = web({ revisionHistoryLimit: 0 }, { ...status, availableReplicas: 3 });
    expect(words(plan(underway, sets(underway)).actions)).not.toContain('delete default/web-1');
  });
});
