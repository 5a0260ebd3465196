import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { parseCommandLine } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { resolveOptions, type Options } from './options.ts';

function resolve(...argv: string[]): Options {
  const line = parseCommandLine(argv, controllers);
  if (line.kind !== 'run') throw new Error('expected a run');
  return resolveOptions(line.given, controllers);
}

/** What kubeadm 1.36 writes into its manifest for a cluster with a pod network. */
export const kubeadmFlags = [
  '--allocate-node-cidrs=true',
  '--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf',
  '--authorization-kubeconfig=/etc/kubernetes/controller-manager.conf',
  '--bind-address=127.0.0.1',
  '--client-ca-file=/etc/kubernetes/pki/ca.crt',
  '--cluster-cidr=10.244.0.0/16',
  '--cluster-name=kubernetes',
  '--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt',
  '--cluster-signing-key-file=/etc/kubernetes/pki/ca.key',
  '--controllers=*,bootstrapsigner,tokencleaner',
  '--kubeconfig=/etc/kubernetes/controller-manager.conf',
  '--leader-elect=true',
  '--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt',
  '--root-ca-file=/etc/kubernetes/pki/ca.crt',
  '--service-account-private-key-file=/etc/kubernetes/pki/sa.key',
  '--service-cluster-ip-range=10.96.0.0/12',
  '--use-service-account-credentials=true',
];

describe('resolveOptions', () => {
  test("takes kubeadm's command line and says what it does not do", () => {
    const { flags, notes } = resolve(...kubeadmFlags);
    expect(flags['use-service-account-credentials']).toBe(true);
    expect(flags.controllers).toEqual(['*', 'bootstrapsigner', 'tokencleaner']);
    expect(notes.join('\n')).not.toContain('--cluster-signing-cert-file');
    expect(notes.join('\n')).not.toContain('--allocate-node-cidrs');
  });

  test('is silent about flags that are at their default', () => {
    expect(resolve('--cluster-name=kubernetes', '--controllers=job').notes).toEqual([]);
  });

  test('lease durations need not agree when there is no election', () => {
    const { flags } = resolve('--leader-elect=false', '--leader-elect-lease-duration=1s');
    expect(flags['leader-elect']).toBe(false);
  });
});

const refused = [
  { argv: ['--leader-elect-lease-duration=soon'], names: '--leader-elect-lease-duration' },
  { argv: ['--leader-elect-lease-duration=5s'], names: '--leader-elect-lease-duration' },
  { argv: ['--leader-elect-renew-deadline=1s'], names: '--leader-elect-renew-deadline' },
  { argv: ['--leader-elect-resource-lock=configmaps'], names: '--leader-elect-resource-lock' },
  { argv: ['--leader-elect-resource-name='], names: '--leader-elect-resource-name' },
  { argv: ['--secure-port=70000'], names: '--secure-port' },
  { argv: ['--bind-address=localhost'], names: '--bind-address' },
  { argv: ['--concurrent-job-syncs=many'], names: '--concurrent-job-syncs' },
  { argv: ['--concurrent-job-syncs=0'], names: '--concurrent-job-syncs: must be at least 1, got 0' },
  { argv: ['--logging-format=xml'], names: '--logging-format' },
  { argv: ['--cloud-provider=aws'], names: '--cloud-provider' },
  { argv: ['--cidr-allocator-type=CloudAllocator'], names: '--cidr-allocator-type' },
  { argv: ['--emulated-version=1.35'], names: '--emulated-version' },
  { argv: ['--kube-api-burst=-1'], names: '--kube-api-burst' },
  { argv: ['--tls-cert-file=a.crt'], names: '--tls-private-key-file' },
  { argv: ['--controllers=nope'], names: '--controllers' },
  { argv: ['--feature-gates=Nope=true'], names: '--feature-gates' },
  { argv: ['--logging-format=json', '--feature-gates=LoggingBetaOptions=false'], names: '--logging-format' },
  { argv: ['--log-text-split-stream'], names: '--log-text-split-stream' },
];

describe('resolveOptions refuses', () => {
  for (const { argv, names } of refused) {
    test(`${argv.join(' ')}, naming the flag`, () => {
      expect(() => resolve(...argv)).toThrow(names);
      expect(() => resolve(...argv)).toThrow(expect.objectContaining({ exitCode: exitCodes.usage }));
    });
  }
});
