import { describe, expect, test } from 'vitest';

import { parseConfig } from './config-file.ts';
import { describeConfig, describeFlags } from './configz.ts';
import { resolveOptions } from './options.ts';

describe('parseConfig', () => {
  test('reads fields as flags', () => {
    const given = parseConfig({
      apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
      kind: 'KubeControllerManagerConfiguration',
      Generic: { Controllers: ['*', '-job'], LeaderElection: { leaseDuration: '30s', leaderElect: false } },
      DeploymentController: { ConcurrentDeploymentSyncs: 9 },
      FeatureGates: { GenericWorkload: true },
    });
    expect(Object.fromEntries(given)).toEqual({
      controllers: ['*', '-job'],
      'leader-elect-lease-duration': ['30s'],
      'leader-elect': ['false'],
      'concurrent-deployment-syncs': ['9'],
      'feature-gates': ['GenericWorkload=true'],
    });
  });

  test('an empty file sets nothing', () => {
    expect(parseConfig(null).size).toBe(0);
  });

  test('what /configz serves can be read back', () => {
    const served = describeConfig(resolveOptions(new Map([['controllers', ['*', '-job']]]), []).values);
    const { flags } = resolveOptions(parseConfig(JSON.parse(JSON.stringify(served))), []);
    expect(flags.controllers).toEqual(['*', '-job']);
    expect(flags['leader-elect-lease-duration']).toBe(15_000);
  });
});

const refused = [
  { name: 'an unknown section', content: { Job: {} }, message: /Job/ },
  { name: 'an unknown field', content: { Generic: { Controlers: [] } }, message: /^Generic: .*Controlers/ },
  {
    name: 'a wrong type',
    content: { Generic: { LeaderElection: { leaderElect: 'yes' } } },
    message: /^Generic\.LeaderElection\.leaderElect: /,
  },
  {
    name: 'a bad duration',
    content: { Generic: { MinResyncPeriod: 'often' } },
    message: /^Generic\.MinResyncPeriod: .*duration/,
  },
  {
    name: 'a number for a duration',
    content: { Generic: { MinResyncPeriod: 5 } },
    message: /^Generic\.MinResyncPeriod: /,
  },
  { name: 'another kind of file', content: { kind: 'Pod' }, message: /^kind: / },
  { name: 'a list', content: [], message: /expected/ },
];

describe('parseConfig refuses', () => {
  for (const { name, content, message } of refused) {
    test(`${name}, naming its path`, () => expect(() => parseConfig(content)).toThrow(message));
  }
});

describe('describeFlags', () => {
  test('gives every flag in flag syntax', () => {
    const flags = describeFlags(resolveOptions(new Map(), []).values);
    expect(flags['min-resync-period']).toBe('12h0m0s');
    expect(flags['controllers']).toBe('[*]');
    expect(flags['tls-sni-cert-key']).toBe('[]');
  });
});
