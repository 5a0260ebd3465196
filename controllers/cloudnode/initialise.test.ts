import { describe, expect, test } from 'vitest';

import { frozen, node } from '../../test/support/builders.ts';
import { isUninitialised, planInitialisation, planStableLabels } from './initialise.ts';

const uninitialised = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const other = { key: 'other', effect: 'NoSchedule' };

test('isUninitialised: only with the taint', () => {
  expect(isUninitialised(frozen(node({ spec: { taints: [other, uninitialised] } })))).toBe(true);
  expect(isUninitialised(frozen(node({ spec: { taints: [other] } })))).toBe(false);
  expect(isUninitialised(frozen(node()))).toBe(false);
});

describe('planInitialisation', () => {
  test('describes the node and removes the taint', () => {
    const metadata = { providerId: 'x://1', instanceType: 'large', zone: 'z', region: 'r' };
    expect(planInitialisation(frozen(node({ spec: { taints: [uninitialised, other] } })), metadata)).toEqual({
      providerID: 'x://1',
      taints: [other],
      labels: {
        'beta.kubernetes.io/instance-type': 'large',
        'node.kubernetes.io/instance-type': 'large',
        'failure-domain.beta.kubernetes.io/zone': 'z',
        'topology.kubernetes.io/zone': 'z',
        'failure-domain.beta.kubernetes.io/region': 'r',
        'topology.kubernetes.io/region': 'r',
      },
    });
  });

  interface Row {
    readonly name: string;
    readonly spec: { readonly providerID?: string };
    readonly additional: Readonly<Record<string, string>>;
    readonly expected: Readonly<Record<string, string>>;
  }
  const rows: readonly Row[] = [
    { name: 'keeps the provider ID of the kubelet', spec: { providerID: 'x://0' }, additional: {}, expected: {} },
    { name: 'adds labels of the cloud', spec: {}, additional: { 'x.com/rack': '7' }, expected: { 'x.com/rack': '7' } },
    { name: 'keeps labels that the node has', spec: {}, additional: { mine: 'no' }, expected: {} },
    {
      name: 'refuses labels of Kubernetes',
      spec: {},
      additional: { 'kubernetes.io/os': 'x', 'a.k8s.io/b': 'x' },
      expected: {},
    },
    {
      name: 'adds labels of similar domains',
      spec: {},
      additional: { 'notkubernetes.io/a': 'x' },
      expected: { 'notkubernetes.io/a': 'x' },
    },
    {
      name: 'adds a label named constructor',
      spec: {},
      additional: { constructor: 'x' },
      expected: { constructor: 'x' },
    },
  ];
  for (const { name, spec, additional, expected } of rows) {
    test(name, () => {
      const subject = frozen(
        node({ metadata: { labels: { mine: 'yes' } }, spec: { ...spec, taints: [uninitialised] } }),
      );
      const { labels, providerID, taints } = planInitialisation(subject, {
        providerId: 'x://1',
        additionalLabels: additional,
      });
      expect(labels).toEqual(expected);
      expect(providerID).toBe('providerID' in spec ? undefined : 'x://1');
      expect(taints).toEqual([]);
    });
  }
});

describe('planStableLabels', () => {
  const beta = 'failure-domain.beta.kubernetes.io/zone';
  const stable = 'topology.kubernetes.io/zone';
  const rows = [
    { name: 'no labels', labels: {}, expected: undefined },
    { name: 'a beta label alone', labels: { [beta]: 'z' }, expected: { [stable]: 'z' } },
    { name: 'different values', labels: { [beta]: 'z', [stable]: 'y' }, expected: { [stable]: 'z' } },
    { name: 'equal values', labels: { [beta]: 'z', [stable]: 'z' }, expected: undefined },
    { name: 'a stable label alone', labels: { [stable]: 'z' }, expected: undefined },
  ];
  for (const { name, labels, expected } of rows) {
    test(name, () => expect(planStableLabels(frozen(node({ metadata: { labels } })))).toEqual(expected));
  }
});
