import { describe, expect, test } from 'vitest';

import type { Deployment, ReplicaSet } from '../../pkg/api/index.ts';
import { container, deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import type { Action } from './plan.ts';
import { planRollback, rollbackTarget } from './rollback.ts';

const rollback = 'deprecated.deployment.rollback.to';
const revision = 'deployment.kubernetes.io/revision';

describe('rollbackTarget', () => {
  const rows = [
    { name: 'none without the annotation', value: undefined, expected: undefined },
    { name: 'the revision it names', value: '3', expected: 3n },
    { name: 'zero for the one before', value: '0', expected: 0n },
    { name: 'none if it is no number', value: 'three', expected: undefined },
    { name: 'none if it is empty', value: '', expected: undefined },
  ];
  for (const { name, value, expected } of rows) {
    test(name, () => {
      const annotations = value === undefined ? {} : { [rollback]: value };
      expect(rollbackTarget(deployment({ annotations }))).toBe(expected);
    });
  }
});

const template = (image: string): NonNullable<ReplicaSet['spec']['template']> => ({
  metadata: { labels: { app: 'web', 'pod-template-hash': image } },
  spec: { containers: [container({ image })] },
});
const set = (image: string, number: string, annotations: Record<string, string> = {}): ReplicaSet =>
  replicaSet({
    name: `web-${image}`,
    annotations: { [revision]: number, ...annotations },
    spec: { template: template(image) },
  });

function web(annotations: Record<string, string>): Deployment {
  const { spec } = template('three');
  return deployment({
    name: 'web',
    annotations: { [rollback]: '0', [revision]: '3', ...annotations },
    spec: { template: { metadata: { labels: { app: 'web' } }, spec } },
  });
}

const sets = [set('one', '1', { cause: 'first' }), set('two', '2'), set('three', '3')];

function plan(target: bigint, among = sets): { actions: readonly Action[]; updated: Deployment | undefined } {
  const actions = planRollback(
    frozen(web({ cause: 'third', 'kubectl.kubernetes.io/last-applied-configuration': '{}' })),
    target,
    frozen(among),
  );
  const update = actions.find((action) => action.kind === 'updateDeployment');
  return { actions, updated: update?.deployment as Deployment | undefined };
}

const eventOf = (actions: readonly Action[]): string => {
  const [event] = actions.flatMap((action) => ('event' in action && action.event !== undefined ? [action.event] : []));
  return `${event?.type} ${event?.reason}: ${event?.message}`;
};

describe('planRollback', () => {
  test('restores template and annotations of the requested revision, and clears the request', () => {
    const { actions, updated } = plan(1n);
    expect(updated?.spec.template).toEqual({ metadata: { labels: { app: 'web' } }, spec: template('one').spec });
    expect(updated?.metadata.annotations).toEqual({
      [revision]: '3',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      cause: 'first',
    });
    expect(eventOf(actions)).toBe('Normal DeploymentRollback: Rolled back deployment "web" to revision 1');
  });

  test('restores the previous revision for 0', () => {
    expect(plan(0n).updated?.spec.template.spec).toEqual(template('two').spec);
  });

  const refusals = [
    {
      name: 'there is no previous revision',
      target: 0n,
      among: sets.slice(2),
      expected: 'Warning DeploymentRollbackRevisionNotFound: Unable to find last revision.',
    },
    {
      name: 'the revision is unknown',
      target: 7n,
      among: sets,
      expected: 'Warning DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.',
    },
    {
      name: 'the revision is the current one',
      target: 3n,
      among: sets,
      expected:
        'Warning DeploymentRollbackTemplateUnchanged: ' +
        'The rollback revision contains the same template as current deployment "web"',
    },
  ];
  for (const { name, target, among, expected } of refusals) {
    test(`only clears the request when ${name}`, () => {
      const { actions, updated } = plan(target, among);
      expect(eventOf(actions)).toBe(expected);
      expect(updated?.metadata.annotations).not.toHaveProperty([rollback]);
      expect(updated?.spec.template.spec).toEqual(template('three').spec);
    });
  }
});
