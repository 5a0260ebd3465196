import { expect, test } from 'vitest';

import { CoreEvents, CSIDrivers, Pods, type Pod } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { AttachUser } from '../support/attach-user.ts';
import { eventually } from '../support/eventually.ts';
import { runWithBoth, type Scenario } from '../support/side-by-side.ts';
import { claimVolume } from '../support/volume-user.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();

type SecurityContext = NonNullable<Pod['spec']['securityContext']>;

/** A pod that two containers of mount a claim, the second one with its own label if there is one. */
function podSpec(claimName: string, securityContext: SecurityContext, second?: string): Pod['spec'] {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const own = second === undefined ? {} : { securityContext: { seLinuxOptions: { level: second } } };
  const containers = [
    { name: 'first', image: 'example', volumeMounts },
    { name: 'second', image: 'example', volumeMounts, ...own },
  ];
  return { containers, volumes: [claimVolume(claimName)], securityContext };
}

const level = (value: string): SecurityContext => ({ seLinuxOptions: { level: value } });

async function untilEvents(
  client: Client,
  namespace: string,
  reasons: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await eventually(async () => {
    const { items } = await client.listAll(CoreEvents, { namespace }, signal);
    const seen = new Set(items.map(({ reason, involvedObject }) => `${reason} ${involvedObject.name}`));
    return reasons.every((reason) => seen.has(reason));
  }, signal);
}

test('pods that use a volume with different SELinux labels are told, as with the Go manager', async ({ signal }) => {
  const scenario: Scenario = {
    controllers: ['selinux-warning-controller'],
    kinds: [Pods, CoreEvents],
    async run({ client, namespace }) {
      const user = new AttachUser(client, namespace, signal);
      const spec = { seLinuxMount: true };
      await client.create(CSIDrivers, { metadata: { name: user.nameOf('labels') }, spec }, signal);
      await user.boundClaim('labelled', { csi: { driver: user.nameOf('labels'), volumeHandle: 'h' } });
      await user.boundClaim('plain');
      const pods: [string, Pod['spec']][] = [
        ['one', podSpec('labelled', level('s0:c1'))],
        ['two', podSpec('labelled', level('s0:c2'))],
        ['typed', podSpec('labelled', { seLinuxOptions: { level: 's0:c1', type: 'container_t' } })],
        ['recursive', podSpec('labelled', { ...level('s0:c1'), seLinuxChangePolicy: 'Recursive' })],
        ['twice', podSpec('labelled', level('s0:c1'), 's0:c3')],
        ['plain-one', podSpec('plain', level('s0:c1'))],
        ['plain-two', podSpec('plain', level('s0:c2'))],
      ];
      for (const [name, podOf] of pods)
        await client.create(Pods, { metadata: { namespace, name }, spec: podOf }, signal);
      const labels = ['one', 'two', 'typed', 'recursive'].map((name) => `SELinuxLabelConflict ${name}`);
      const policies = ['one', 'two', 'typed', 'recursive'].map((name) => `SELinuxChangePolicyConflict ${name}`);
      await untilEvents(client, namespace, [...labels, ...policies, 'MultipleSELinuxLabels twice'], signal);
    },
  };
  expect(await runWithBoth(cluster(), scenario, {}, signal)).toEqual([]);
});
