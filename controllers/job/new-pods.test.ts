import { describe, expect, test } from 'vitest';

import type { JobSpec } from '../../pkg/api/index.ts';
import { container, frozen, job } from '../../test/support/builders.ts';
import { jobPod, trackingFinalizer } from '../../test/support/job-pods.ts';
import { newIndexedPod, newPod } from './new-pods.ts';

const index = 'batch.kubernetes.io/job-completion-index';
const failures = 'batch.kubernetes.io/job-index-failure-count';
const ignored = 'batch.kubernetes.io/job-index-ignored-failure-count';

describe('a new pod', () => {
  test('has the tracking finalizer in addition to those of the template', () => {
    const metadata = { finalizers: ['example.com/mine'] };
    const owner = frozen(job({ spec: { template: { metadata, spec: { containers: [] } } } }));
    expect(newPod(owner).metadata.finalizers).toEqual(['example.com/mine', trackingFinalizer]);
    expect(newPod(owner).metadata.generateName).toBe('job-');
  });

  test('has the tracking finalizer once', () => {
    const metadata = { finalizers: [trackingFinalizer] };
    const owner = frozen(job({ spec: { template: { metadata, spec: { containers: [] } } } }));
    expect(newPod(owner).metadata.finalizers).toEqual([trackingFinalizer]);
  });
});

describe('a new pod for an index', () => {
  const indexed = (spec: Partial<JobSpec> = {}) =>
    frozen(job({ name: 'sum', spec: { completionMode: 'Indexed', completions: 9, ...spec } }));

  test('has it as label, annotation, variable, hostname and part of its name', () => {
    const env = [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }];
    const template = {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: {
        containers: [container(), container({ name: 'own', env })],
        initContainers: [container({ name: 'init' })],
      },
    };
    const pod = newIndexedPod(indexed({ template }), 7, undefined);
    expect(pod.metadata).toMatchObject({
      generateName: 'sum-7-',
      labels: { a: 'b', [index]: '7' },
      annotations: { c: 'd', [index]: '7' },
    });
    expect(pod.metadata.annotations).not.toHaveProperty([failures]);
    expect(pod.spec.hostname).toBe('sum-7');
    const variable = {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { fieldPath: `metadata.labels['${index}']` } },
    };
    expect(pod.spec.containers.map((each) => each.env)).toEqual([[variable], env]);
    expect(pod.spec.initContainers?.map((each) => each.env)).toEqual([[variable]]);
  });

  test('keeps the index in a long name', () => {
    const owner = frozen(job({ name: 'x'.repeat(63), spec: { completionMode: 'Indexed' } }));
    const { generateName = '' } = newIndexedPod(owner, 123, undefined).metadata;
    expect(generateName).toBe(`${'x'.repeat(53)}-123-`);
    expect(generateName).toHaveLength(58);
  });

  const policy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } }] };
  const rows = [
    { name: 'starts with 0 failures', exitCode: undefined, expected: { [failures]: '0' } },
    { name: 'continues the failures of the replaced pod', exitCode: 1, expected: { [failures]: '3' } },
    { name: 'counts ignored failures separately', exitCode: 3, expected: { [failures]: '2', [ignored]: '1' } },
  ];
  for (const { name, exitCode, expected } of rows) {
    test(name, () => {
      const owner = indexed({ backoffLimitPerIndex: 5, podFailurePolicy: policy });
      const annotations = { [failures]: '2' };
      const replaced = exitCode === undefined ? undefined : jobPod(owner, { phase: 'Failed', exitCode, annotations });
      expect(newIndexedPod(owner, 0, replaced).metadata.annotations).toEqual({ [index]: '0', ...expected });
    });
  }
});
