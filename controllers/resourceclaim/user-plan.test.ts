import { describe, expect, test } from 'vitest';

import { PodGroups, Pods, type Cached, type Pod, type ResourceClaim } from '../../pkg/api/index.ts';
import type { ClaimUser } from '../../pkg/resourceclaims/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { allocated, claimTemplate, podGroup, resourceClaim } from '../../test/support/claim-builders.ts';
import { entryAnnotation } from './new-claim.ts';
import { planReservations, planUser, type UserView } from './user-plan.ts';

const made = (name: string, entry: string, object: ClaimUser, kind: typeof Pods | typeof PodGroups = Pods) =>
  frozen(resourceClaim({ name, owner: { kind, object }, annotations: { [entryAnnotation]: entry } }));

interface Scene {
  readonly claims?: readonly Cached<ResourceClaim>[];
  readonly view?: Partial<UserView>;
}

const sceneView = ({ claims = [], view }: Scene): UserView => ({
  kind: Pods,
  claimOf: (name) => claims.find(({ metadata }) => metadata.name === name),
  templateOf: (name) => (name === 'template' ? frozen(claimTemplate({ name })) : undefined),
  claimsMadeFor: ({ metadata: { uid } }) =>
    claims.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)),
  acceptsGroups: view?.group !== undefined,
  allowsAlternatives: true,
  ...view,
});

const entries = (...names: string[]) => names.map((name) => ({ name, resourceClaimTemplateName: 'template' }));
const userOf = (resourceClaims: NonNullable<Pod['spec']['resourceClaims']>, recorded: Record<string, string> = {}) => {
  const resourceClaimStatuses = Object.entries(recorded).map(([name, resourceClaimName]) => ({
    name,
    resourceClaimName,
  }));
  return frozen(pod({ name: 'user', spec: { resourceClaims }, status: { phase: 'Pending', resourceClaimStatuses } }));
};
/** Steps without the contents of new claims. */
const stepsOf = (user: ClaimUser, scene: Scene = {}) =>
  planUser(user, sceneView(scene)).map((step) => (step.kind === 'create' ? `create ${step.entry}` : step));

describe('for the entries of a pod', () => {
  test('claims are made, in order', () => {
    expect(stepsOf(userOf(entries('a', 'b')))).toEqual(['create a', 'create b']);
  });

  test('claims that exist are recorded again beside a new one', () => {
    const user = userOf(entries('a', 'b'), { a: 'user-a-x', b: 'user-b-x' });
    expect(stepsOf(user, { claims: [made('user-b-x', 'b', user)] })).toEqual([
      'create a',
      { kind: 'record', entry: 'b', claimName: 'user-b-x', isNew: false },
    ]);
  });

  test('a claim whose record was lost is recorded', () => {
    const user = userOf(entries('a'));
    expect(stepsOf(user, { claims: [made('user-other-x', 'other', user), made('user-a-x', 'a', user)] })).toEqual([
      { kind: 'record', entry: 'a', claimName: 'user-a-x', isNew: true },
    ]);
  });

  test('a claim of another pod is replaced', () => {
    const user = userOf(entries('a'), { a: 'user-a-x' });
    const other = frozen(pod({ name: 'other' }));
    expect(stepsOf(user, { claims: [made('user-a-x', 'a', other)] })).toEqual(['create a']);
  });

  test('a claim by name is left to users, and an entry that needs none alone', () => {
    const resourceClaims = [{ name: 'a', resourceClaimName: 'shared' }, ...entries('b')];
    const status = { phase: 'Pending', resourceClaimStatuses: [{ name: 'b' }] };
    expect(stepsOf(frozen(pod({ name: 'user', spec: { resourceClaims }, status })))).toEqual([]);
  });

  test('a template that is missing stops the entries after it', () => {
    const missing = { name: 'b', resourceClaimTemplateName: 'missing' };
    const problem = 'resource claim template "missing": resourceclaimtemplate.resource.k8s.io "missing" not found';
    expect(stepsOf(userOf([...entries('a'), missing, ...entries('c')]))).toEqual([
      'create a',
      { kind: 'fail', entry: 'b', problem },
    ]);
  });

  test('alternatives need their gate', () => {
    const firstAvailable = [{ name: 'x', deviceClassName: 'y' }];
    const spec = { spec: { devices: { requests: [{ name: 'any', firstAvailable }] } } };
    const view = { templateOf: () => frozen(claimTemplate({ spec })), allowsAlternatives: false };
    const problem = 'template includes a prioritized list of subrequests, but the feature is disabled';
    expect(stepsOf(userOf(entries('a')), { view })).toEqual([{ kind: 'fail', entry: 'a', problem }]);
    expect(stepsOf(userOf(entries('a')), { view: { ...view, allowsAlternatives: true } })).toEqual(['create a']);
  });

  test('an entry of an unknown kind fails', () => {
    const problem =
      'checking for claim before creating it: pod "default/user", spec.resourceClaim "a": none of the supported fields are set';
    expect(stepsOf(userOf([{ name: 'a' }]))).toEqual([{ kind: 'fail', entry: 'a', problem }]);
  });
});

describe('with a group', () => {
  const group = frozen(podGroup({ name: 'gang', spec: { resourceClaims: entries('a') } }));
  const spec = { resourceClaims: entries('a', 'b'), schedulingGroup: { podGroupName: 'gang' } };
  const member = frozen(pod({ name: 'member', spec }));

  test('a pod waits for the claim of the group, and has its own made', () => {
    expect(stepsOf(member, { view: { group } })).toEqual(['create b']);
  });

  test('a pod records the claim of the group', () => {
    expect(stepsOf(member, { claims: [made('gang-a-x', 'a', group, PodGroups)], view: { group } })).toEqual([
      { kind: 'record', entry: 'a', claimName: 'gang-a-x', isNew: true },
      'create b',
    ]);
  });

  test('the group gets its claim', () => {
    const [step] = planUser(group, sceneView({ view: { kind: PodGroups } }));
    expect(step).toMatchObject({
      kind: 'create',
      claim: {
        metadata: {
          generateName: 'gang-a-',
          ownerReferences: [{ apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'gang' }],
        },
      },
    });
  });

  test('an entry of an unknown kind fails', () => {
    const future = frozen(podGroup({ name: 'gang', spec: { resourceClaims: [{ name: 'a' }] } }));
    const problem =
      'checking for claim before creating it: PodGroup default/gang, spec.resourceClaim a: none of the supported fields are set';
    expect(stepsOf(future, { view: { kind: PodGroups } })).toEqual([{ kind: 'fail', entry: 'a', problem }]);
  });
});

describe('a pod on a node reserves', () => {
  const resourceClaims = ['a', 'b'].map((name) => ({ name, resourceClaimName: name }));
  const bound = frozen(pod({ name: 'user', spec: { resourceClaims, nodeName: 'node' } }));
  const consumer = { resource: 'pods', name: 'user', uid: bound.metadata.uid };
  const claim = (name: string, status?: ResourceClaim['status'], metadata = {}) =>
    frozen(resourceClaim({ name, status, metadata }));
  const reserved = (claims: readonly Cached<ResourceClaim>[], by = bound) =>
    planReservations(by, sceneView({ claims })).map((each) => [each.claim.metadata.name, each.consumer]);

  const rows = [
    { name: 'its claims', claims: [claim('a', allocated()), claim('b', allocated())], expected: ['a', 'b'] },
    { name: 'none twice', claims: [claim('a', allocated(consumer)), claim('b', allocated())], expected: ['b'] },
    { name: 'none that is not allocated', claims: [claim('a'), claim('b', allocated())], expected: ['b'] },
    { name: 'none after one that is missing', claims: [claim('b', allocated())], expected: [] },
    {
      name: 'none that is being deleted',
      claims: [claim('a', allocated(), { deletionTimestamp: '2026-01-01T00:00:00Z' }), claim('b', allocated())],
      expected: ['b'],
    },
  ];
  for (const { name, claims, expected } of rows) {
    test(name, () => expect(reserved(claims)).toEqual(expected.map((each) => [each, consumer])));
  }

  test('nothing before it has a node', () => {
    const unbound = frozen(pod({ name: 'user', spec: { resourceClaims } }));
    expect(reserved([claim('a', allocated())], unbound)).toEqual([]);
  });
});
