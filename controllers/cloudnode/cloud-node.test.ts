import { describe, expect, test } from 'vitest';

import { Nodes, type Node } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { RecordingCloud } from '../../test/support/recording-cloud.ts';
import { createCloudNodeController } from './cloud-node.ts';

const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }];
const nodeAddresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
const hostname = { type: 'Hostname', address: 'a' };

function setUp(): { test: TestContext; cloud: RecordingCloud } {
  const cloud = new RecordingCloud();
  cloud.metadata.set('a', { providerId: 'x://1', zone: 'z', nodeAddresses });
  return { test: createTestContext({ freeze: true }), cloud };
}

async function run({ test: context, cloud }: ReturnType<typeof setUp>, use: () => Promise<void>): Promise<void> {
  const options = { instances: cloud.instances, workers: 1, statusPeriodMs: 300_000, statusWorkers: 1 };
  await whileRunning(context, createCloudNodeController(context.context, options), use);
}

const stored = ({ server }: TestContext): Node | undefined => server.stored(Nodes)[0];

describe('cloud-node-controller', () => {
  test('describes a new node in one write, then sets its addresses', async () => {
    const parts = setUp();
    parts.test.server.seed(Nodes, { metadata: { name: 'a' }, spec: { taints }, status: { addresses: [hostname] } });
    await run(parts, async () => {
      expect(parts.test.client.writes.map(({ verb, subresource = '' }) => `${verb} ${subresource}`)).toEqual([
        'patch ',
        'patch status',
      ]);
      expect(stored(parts.test)).toMatchObject({
        metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } },
        spec: { providerID: 'x://1', taints: [] },
        status: { addresses: [...nodeAddresses, hostname] },
      });
      expect(parts.test.recorded).toMatchObject([
        { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' },
      ]);
    });
  });

  test('leaves a node alone that the cloud does not describe', async () => {
    const parts = setUp();
    parts.cloud.metadata.clear();
    parts.test.server.seed(Nodes, { metadata: { name: 'a' }, spec: { taints } });
    await run(parts, async () => expect(parts.test.client.writes).toEqual([]));
  });

  const waiting = [
    {
      name: 'while the cloud fails',
      prepare: ({ cloud }: ReturnType<typeof setUp>) => void cloud.failures.set('metadataOf', new Error('down')),
    },
    {
      name: 'without a provider ID',
      prepare: ({ cloud }: ReturnType<typeof setUp>) => void cloud.metadata.set('a', { providerId: '' }),
    },
    {
      name: 'while another write is faster',
      prepare({ test: { client } }: ReturnType<typeof setUp>) {
        const once = client.before('patch', () => {
          once();
          throw apiError(409, 'Conflict');
        });
      },
    },
  ];
  for (const { name, prepare } of waiting) {
    test(`keeps the taint ${name}, and tries again`, async () => {
      const parts = setUp();
      prepare(parts);
      parts.test.server.seed(Nodes, { metadata: { name: 'a' }, spec: { taints } });
      await run(parts, async () => {
        expect(stored(parts.test)?.spec.taints).toEqual(taints);
        parts.cloud.failures.clear();
        parts.cloud.metadata.set('a', { providerId: 'x://1' });
        await parts.test.clock.advance(1000);
        await settle();
        expect(stored(parts.test)?.spec).toEqual({ providerID: 'x://1', taints: [] });
      });
    });
  }

  test('corrects labels, and addresses every five minutes', async () => {
    const parts = setUp();
    const labels = { 'beta.kubernetes.io/instance-type': 'large' };
    parts.test.server.seed(Nodes, { metadata: { name: 'a', labels }, spec: {}, status: { addresses: [hostname] } });
    await run(parts, async () => {
      expect(stored(parts.test)?.metadata.labels?.['node.kubernetes.io/instance-type']).toBe('large');
      expect(stored(parts.test)?.status?.addresses).toEqual([...nodeAddresses, hostname]);
      const moved = [{ type: 'InternalIP', address: '10.0.0.2' }];
      parts.cloud.metadata.set('a', { providerId: 'x://1', nodeAddresses: moved });
      await parts.test.clock.advance(300_000);
      await settle();
      expect(stored(parts.test)?.status?.addresses).toEqual([...moved, hostname]);
    });
  });
});
