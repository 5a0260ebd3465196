import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../cmd/kube-controller-manager/exit-codes.ts';
import { runManager as runManagerOf } from '../../pkg/manager/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { RecordingLogger } from '../support/loggers.ts';
import { runManager, startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const shortTerms = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

/** One controller in each place. The token controller stays with the first lease, whatever the file says. */
const controllerLeaders = [
  { name: 'cronjob-controller', component: 'kube-controller-manager' },
  { name: 'ttl-after-finished-controller', component: '*' },
  { name: 'ttl-controller', component: 'cloud-controller-manager' },
  { name: 'serviceaccount-token-controller', component: '*' },
  { name: 'podgc', component: 'cloud-controller-manager' }, // an alias, which does not count
];
const selected = [
  'cronjob-controller',
  'ttl-after-finished-controller',
  'ttl-controller',
  'pod-garbage-collector-controller',
].join(',');

function writeMigration(leaderName: string, text?: string): string {
  const path = join(cluster().directory, `${leaderName}.yaml`);
  const content = {
    apiVersion: 'controllermanager.config.k8s.io/v1',
    kind: 'LeaderMigrationConfiguration',
    leaderName,
    controllerLeaders,
  };
  writeFileSync(path, text ?? JSON.stringify(content));
  return path;
}

function flagsFor(main: string, second: string): string[] {
  return [
    ...shortTerms,
    `--leader-elect-resource-name=${main}`,
    '--enable-leader-migration',
    `--leader-migration-config=${writeMigration(second)}`,
    `--controllers=${selected}`,
    `--service-account-private-key-file=${cluster().files.serviceAccountKey}`,
  ];
}

interface LeaseBody {
  readonly metadata: object;
  readonly spec: { readonly holderIdentity?: string };
}

async function holderOf(name: string): Promise<string> {
  const { status, body } = await cluster().request({ path: `${leases}/${name}` });
  return status === 404 ? '' : ((body as LeaseBody).spec.holderIdentity ?? '');
}

/** Another program holds the lease for an hour. */
async function createHeldLease(name: string): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'cloud', leaseDurationSeconds: 3600, acquireTime: renewTime, renewTime };
  const { status } = await cluster().request({
    method: 'POST',
    path: leases,
    body: { metadata: { name }, spec },
  });
  expect(status).toBe(201);
}

/** The holder renews all the time, so a write may conflict: retry until one succeeds. */
async function setHolder(name: string, holderIdentity: string): Promise<void> {
  for (;;) {
    const lease = (await cluster().request({ path: `${leases}/${name}` })).body as LeaseBody;
    const body = { ...lease, spec: { ...lease.spec, holderIdentity } };
    const { status } = await cluster().request({ method: 'PUT', path: `${leases}/${name}`, body });
    if (status === 200) return;
    expect(status).toBe(409);
  }
}

interface Program {
  healthyChecks(): Promise<readonly string[]>;
  log(): string;
  end(): Promise<unknown>;
}

const programs = {
  async ours(flags: readonly string[]): Promise<Program> {
    const manager = await startManager(cluster(), flags);
    return {
      healthyChecks: async () => checksOf(await manager.get('/healthz?verbose')),
      log: () => manager.logs(),
      end: () => manager.stop(),
    };
  },
  async go(flags: readonly string[]): Promise<Program> {
    const { process, url } = await startGoControllerManager(cluster(), flags);
    return {
      healthyChecks: async () => checksOf(await cluster().request({ path: `${url}/healthz?verbose` })),
      log: () => process.readLog(),
      end: () => process.kill(),
    };
  },
};

function checksOf({ body }: { readonly body: unknown }): string[] {
  return [...String(body).matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name = '']) => name).sort();
}

describe('leader migration', () => {
  const main = ['leaderElection', 'pod-garbage-collector-controller', 'serviceaccount-token-controller'];
  const all = [...main, 'cronjob-controller', 'ttl-after-finished-controller'].sort();

  async function startBehind(who: keyof typeof programs, signal: AbortSignal): Promise<Program> {
    await createHeldLease(`migration-${who}`);
    const program = await programs[who](flagsFor(`main-${who}`, `migration-${who}`));
    await eventually(async () => (await program.healthyChecks()).length === main.length, signal);
    await eventually(async () => /(Attempting|waiting).*migration/.test(program.log()), signal);
    expect(await program.healthyChecks()).toEqual(main);
    expect(await holderOf(`migration-${who}`)).toBe('cloud');
    await setHolder(`migration-${who}`, '');
    await eventually(async () => (await holderOf(`migration-${who}`)) !== '', signal);
    return program;
  }

  test('the second lease is acquired after the first, and the controllers of the file run with it', async ({
    signal,
  }) => {
    const program = await startBehind('ours', signal);
    await eventually(async () => (await program.healthyChecks()).length === all.length, signal);
    expect(await program.healthyChecks()).toEqual(all);
    expect(await holderOf('migration-ours')).toBe(await holderOf('main-ours'));
    expect(await program.end()).toBe(exitCodes.ok);
    expect([await holderOf('migration-ours'), await holderOf('main-ours')]).toEqual(['', '']);
  });

  // Go 1.36.4 then fails: "informer name kube-controller-manager is already registered".
  test('the Go manager runs the same controllers with the first lease, and acquires the second', async ({ signal }) => {
    const program = await startBehind('go', signal);
    expect(await holderOf('migration-go')).toBe(await holderOf('main-go'));
    await program.end();
  });

  test('a standby of the first lease is no candidate for the second', async ({ signal }) => {
    await createHeldLease('main-standby');
    await using manager = await startManager(cluster(), flagsFor('main-standby', 'migration-standby'), {
      until: 'serving',
    });
    await eventually(async () => manager.logs().includes('waiting for the lease'), signal);
    expect(manager.logs()).not.toContain('migration-standby');
    expect(await manager.stop()).toBe(exitCodes.ok);
    expect(await holderOf('migration-standby')).toBe('');
  });

  test('a process that loses the second lease exits, and releases the first', async () => {
    await using manager = await startManager(cluster(), flagsFor('main-lost', 'migration-lost'));
    await expect.poll(() => holderOf('migration-lost')).not.toBe('');
    await setHolder('migration-lost', 'a thief');
    expect(await manager.exited).toBe(exitCodes.failed);
    expect(manager.logs()).toMatch(/kube-controller-manager: lost the lease .*migration-lost: a thief holds it/);
    expect(await holderOf('main-lost')).toBe('');
  });

  test('a clean stop hands the migrated controllers to a cloud controller manager of the library', async ({
    signal,
  }) => {
    await using manager = await startManager(cluster(), flagsFor('main-moved', 'migration-moved'));
    await expect.poll(() => holderOf('migration-moved')).not.toBe('');
    const stop = new AbortController();
    const logger = new RecordingLogger();
    const running = Promise.withResolvers<void>();
    const cloudManager = runManagerOf({
      name: 'cloud-controller-manager',
      kubeconfig: cluster().kubeconfig(),
      leaderElection: {
        namespace: 'kube-system',
        leaseDurationMs: 3000,
        renewDeadlineMs: 2000,
        retryPeriodMs: 500,
        migration: { name: 'migration-moved', controllers: new Set(['cronjob-controller']) },
      },
      controllers: [
        {
          name: 'cronjob-controller',
          create: () => ({
            name: 'cronjob-controller',
            async run(until) {
              running.resolve();
              await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
            },
          }),
        },
      ],
      server: false,
      logger,
      signal: stop.signal,
    });
    try {
      await eventually(async () => (await holderOf('cloud-controller-manager')) !== '', signal);
      expect(await holderOf('migration-moved')).toBe(await holderOf('main-moved'));
      expect(await manager.stop()).toBe(exitCodes.ok);
      await running.promise;
      expect(await holderOf('migration-moved')).toBe(await holderOf('cloud-controller-manager'));
    } finally {
      stop.abort();
      await cloudManager;
    }
    expect(await holderOf('migration-moved')).toBe('');
  });
});

describe('a wrong file ends the process with one line', () => {
  const rows = [
    { name: 'no file', file: () => '/nowhere.yaml', exitCode: exitCodes.environment, message: /config: .*nowhere/ },
    {
      name: 'an unknown field',
      file: () =>
        writeMigration(
          'unknown',
          'apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\nleaderName: x\nfoo: bar\n',
        ),
      exitCode: exitCodes.usage,
      message: /config .*unknown\.yaml: .*foo/,
    },
    {
      name: 'a field twice',
      file: () => writeMigration('twice', 'leaderName: x\nleaderName: y\n'),
      exitCode: exitCodes.usage,
      message: /config .*twice\.yaml: duplicated mapping key/,
    },
  ];
  for (const { name, file, exitCode, message } of rows) {
    test(name, async () => {
      const flags = ['--enable-leader-migration', `--leader-migration-config=${file()}`];
      const finished = await runManager([`--kubeconfig=${cluster().kubeconfig()}`, ...flags]);
      expect(finished.stderr).toMatch(message);
      expect(finished.stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(finished.exitCode).toBe(exitCode);
    });
  }
});
