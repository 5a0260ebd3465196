import { describe, expect, test } from 'vitest';

import { pod } from '../../../test/support/builders.ts';
import { showUsage, usageOf } from './usage.ts';

const requests = { cpu: '200m', memory: '100Mi' };
const running = { phase: 'Running' };
const rows: { name: string; annotations?: Record<string, string>; resources?: object; expected: string[] }[] = [
  { name: 'half of the requests', resources: { requests }, expected: ['100m', '50Mi'] },
  { name: 'a little without requests', expected: ['10m', '32Mi'] },
  {
    name: 'a quantity',
    annotations: { 'hollow-node/cpu-usage': '1.5', 'hollow-node/memory-usage': '1Gi' },
    resources: { requests },
    expected: ['1500m', '1Gi'],
  },
  {
    name: 'a percentage of the requests',
    annotations: { 'hollow-node/cpu-usage': '150%', 'hollow-node/memory-usage': '0%' },
    resources: { requests },
    expected: ['300m', '0'],
  },
  {
    name: 'a percentage without requests',
    annotations: { 'hollow-node/cpu-usage': '100%' },
    expected: ['20m', '32Mi'],
  },
  {
    name: 'the default instead of nonsense',
    annotations: { 'hollow-node/cpu-usage': 'much' },
    expected: ['10m', '32Mi'],
  },
  { name: 'never less than nothing', annotations: { 'hollow-node/cpu-usage': '-1' }, expected: ['0', '32Mi'] },
];

describe('a container uses', () => {
  for (const { name, annotations, resources = {}, expected } of rows) {
    test(name, () => {
      const containers = [{ name: 'app', image: 'example', resources }];
      const [usage] = usageOf(pod({ annotations, spec: { containers }, status: running }));
      expect(usage && Object.values(showUsage(usage))).toEqual(expected);
    });
  }
});

test('only running pods use anything, with their sidecars', () => {
  const sidecar = { name: 'proxy', image: 'example', restartPolicy: 'Always' };
  const setup = { name: 'setup', image: 'example' };
  const spec = { initContainers: [setup, sidecar] };
  expect(usageOf(pod({ spec, status: running })).map(({ name }) => name)).toEqual(['app', 'proxy']);
  expect(usageOf(pod({ spec, status: { phase: 'Pending' } }))).toEqual([]);
});
