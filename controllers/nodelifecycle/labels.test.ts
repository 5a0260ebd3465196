import { describe, expect, test } from 'vitest';

import { node } from '../../test/support/builders.ts';
import { planLabels } from './labels.ts';

describe('planLabels', () => {
  const os = 'kubernetes.io/os';
  const arch = 'kubernetes.io/arch';
  const [deprecatedOs, deprecatedArch] = [`beta.${os}`, `beta.${arch}`];
  const rows = [
    {
      name: 'adds both deprecated labels',
      labels: { [os]: 'linux', [arch]: 'arm64' },
      expected: { [deprecatedOs]: 'linux', [deprecatedArch]: 'arm64' },
    },
    {
      name: 'corrects a deprecated label with another value',
      labels: { [os]: 'linux', [deprecatedOs]: 'windows', [arch]: 'amd64', [deprecatedArch]: 'amd64' },
      expected: { [deprecatedOs]: 'linux' },
    },
    { name: 'does not add a label from its deprecated name', labels: { [deprecatedOs]: 'linux' }, expected: undefined },
    { name: 'adds nothing to a node without labels', labels: undefined, expected: undefined },
  ];
  for (const { name, labels, expected } of rows)
    test(name, () => expect(planLabels(node({ metadata: { labels } }))).toEqual(expected));
});
