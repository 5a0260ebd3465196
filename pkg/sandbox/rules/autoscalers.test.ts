import { describe, expect, test } from 'vitest';

import type { HorizontalPodAutoscaler } from '../../api/index.ts';
import { autoscalerRules } from './autoscalers.ts';

type Spec = Partial<HorizontalPodAutoscaler['spec']>;
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

function autoscaler(spec: Spec): HorizontalPodAutoscaler {
  return { spec: { scaleTargetRef: target, maxReplicas: 5, ...spec } } as HorizontalPodAutoscaler;
}

test('both directions of a behavior are filled in, except the window for scaling down', () => {
  const given = autoscaler({ behavior: { scaleUp: { stabilizationWindowSeconds: 7 } } });
  autoscalerRules.defaults?.(given);
  expect(given.spec).toMatchObject({
    minReplicas: 1,
    metrics: [{ type: 'Resource', resource: { name: 'cpu' } }],
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 7,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
    },
  });
  expect(given.spec.behavior?.scaleDown).not.toHaveProperty('stabilizationWindowSeconds');
});

describe('validation refuses', () => {
  const policy = { type: 'Pods', value: 1, periodSeconds: 1 };
  const rows: [spec: Spec, fields: string[]][] = [
    [{}, []],
    [{ minReplicas: 0 }, ['spec.minReplicas']],
    [{ maxReplicas: 0 }, ['spec.maxReplicas', 'spec.maxReplicas']],
    [{ minReplicas: 6 }, ['spec.maxReplicas']],
    [{ scaleTargetRef: { ...target, name: '' } }, ['spec.scaleTargetRef.name']],
    [{ behavior: { scaleUp: { policies: [] } } }, ['spec.behavior.scaleUp.policies']],
    [
      { behavior: { scaleDown: { stabilizationWindowSeconds: 3601, selectPolicy: 'Best', policies: [policy] } } },
      ['spec.behavior.scaleDown.stabilizationWindowSeconds', 'spec.behavior.scaleDown.selectPolicy'],
    ],
    [
      { behavior: { scaleUp: { policies: [{ type: 'Nodes', value: 0, periodSeconds: 1801 }] } } },
      ['type', 'value', 'periodSeconds'].map((name) => `spec.behavior.scaleUp.policies[0].${name}`),
    ],
  ];
  test.each(rows)('%j', (spec, fields) => {
    const errors = autoscalerRules.validate?.(autoscaler(spec)) ?? [];
    expect(errors.map(({ field }) => field)).toEqual(fields);
  });
});
