import { expect, test } from 'vitest';

import { ConfigMaps, objectKey, Secrets } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createBootstrapSigner } from './bootstrap-signer.ts';

const signal = new AbortController().signal;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function whileSigning(use: (stage: TestContext) => Promise<void>): Promise<void> {
  const stage = createTestContext();
  await whileRunning(stage, createBootstrapSigner(stage.context), () => use(stage));
}

function seedToken({ server }: TestContext, id: string, namespace = 'kube-system'): void {
  const data = {
    'token-id': base64(id),
    'token-secret': base64('0123456789abcdef'),
    'usage-bootstrap-signing': base64('true'),
  };
  const metadata = { namespace, name: `bootstrap-token-${id}` };
  server.seed(Secrets, { metadata, type: 'bootstrap.kubernetes.io/token', data });
}

const namesIn = ({ server }: TestContext): string[] =>
  server.stored(ConfigMaps).flatMap(({ data }) => Object.keys(data ?? {}));

test('signs for tokens that are added or removed, and writes nothing when nothing changes', async () => {
  await whileSigning(async (stage) => {
    stage.server.seed(ConfigMaps, {
      metadata: { namespace: 'kube-public', name: 'cluster-info' },
      data: { kubeconfig: 'x' },
    });
    seedToken(stage, 'aaaaaa');
    seedToken(stage, 'bbbbbb', 'default');
    await settle();
    expect(namesIn(stage)).toEqual(['kubeconfig', 'jws-kubeconfig-aaaaaa']);
    const writes = stage.client.writes.length;
    const labels = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    await stage.server.patch(Secrets, objectKey('kube-system', 'bootstrap-token-aaaaaa'), labels, signal);
    await stage.clock.advance(10_000);
    await settle();
    expect(stage.client.writes).toHaveLength(writes);
    await stage.server.delete(Secrets, objectKey('kube-system', 'bootstrap-token-aaaaaa'), {}, signal);
    await stage.clock.advance(10_000);
    await settle();
    expect(namesIn(stage)).toEqual(['kubeconfig']);
  });
});
