import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { parseConfig } from './config-file.ts';
import { describeConfig, describeFlags } from './configz.ts';
import { collectFlags } from './flags/index.ts';
import { resolveOptions } from './options.ts';

const flags = collectFlags(controllers);

describe('parseConfig', () => {
  test('reads fields as flags', () => {
    const given = parseConfig(
      {
        apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
        kind: 'KubeControllerManagerConfiguration',
        Generic: { Controllers: ['*', '-job'], LeaderElection: { leaseDuration: '30s', leaderElect: false } },
        DeploymentController: { ConcurrentDeploymentSyncs: 9 },
        FeatureGates: { GenericWorkload: true },
      },
      flags,
    );
    expect(Object.fromEntries(given)).toEqual({
      controllers: ['*', '-job'],
      'leader-elect-lease-duration': ['30s'],
      'leader-elect': ['false'],
      'concurrent-deployment-syncs': ['9'],
      'feature-gates': ['GenericWorkload=true'],
    });
  });

  test('an empty file sets nothing', () => {
    expect(parseConfig(null, flags).size).toBe(0);
  });

  test('what /configz serves can be read back', () => {
    const served = describeConfig(resolveOptions(new Map([['controllers', ['*', '-job']]]), controllers));
    const read = resolveOptions(parseConfig(JSON.parse(JSON.stringify(served)), flags), controllers);
    expect(read.flags.controllers).toEqual(['*', '-job']);
    expect(read.flags['leader-elect-lease-duration']).toBe(15_000);
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
  {
    name: 'a value that its flag refuses',
    content: { JobController: { ConcurrentJobSyncs: 0 } },
    message: /^JobController\.ConcurrentJobSyncs: --concurrent-job-syncs: must be at least 1, got 0$/,
  },
  { name: 'another kind of file', content: { kind: 'Pod' }, message: /^kind: / },
  { name: 'a list', content: [], message: /expected/ },
];

describe('parseConfig refuses', () => {
  for (const { name, content, message } of refused) {
    test(`${name}, naming its path`, () => expect(() => parseConfig(content, flags)).toThrow(message));
  }
});

describe('describeFlags', () => {
  test('gives every flag in flag syntax', () => {
    const served = describeFlags(resolveOptions(new Map(), controllers));
    expect(served['min-resync-period']).toBe('12h0m0s');
    expect(served['controllers']).toBe('[*]');
    expect(served['tls-sni-cert-key']).toBe('[]');
    expect(served['concurrent-job-syncs']).toBe('5');
  });
});
