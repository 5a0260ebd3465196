import { describe, expect, test } from 'vitest';

import { node } from '../../test/support/builders.ts';
import { planLabels } from './labels.ts';

describe('planLabels', () => {
  const os = 'kubernetes.io/os';
  const arch = 'kubernetes.io/arch';
  const [formerOs, formerArch] = [`beta.${os}`, `beta.${arch}`];
  const rows = [
    {
      name: 'adds both former names',
      labels: { [os]: 'linux', [arch]: 'arm64' },
      expected: { [formerOs]: 'linux', [formerArch]: 'arm64' },
    },
    {
      name: 'corrects one that contradicts',
      labels: { [os]: 'linux', [formerOs]: 'windows', [arch]: 'amd64', [formerArch]: 'amd64' },
      expected: { [formerOs]: 'linux' },
    },
    { name: 'does not guess from the former name', labels: { [formerOs]: 'linux' }, expected: undefined },
    { name: 'has nothing to do without labels', labels: undefined, expected: undefined },
  ];
  for (const { name, labels, expected } of rows)
    test(name, () => expect(planLabels(node({ metadata: { labels } }))).toEqual(expected));
});
