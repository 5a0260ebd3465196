import { describe, expect, test } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { RecordingLogger } from '../../test/support/loggers.ts';
import { Leases, objectKey } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { defineController } from '../../pkg/controller/index.ts';
import { Loop } from '../../pkg/loop/index.ts';
import { startSandbox } from '../../pkg/sandbox/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { runManager } from './manager.ts';

const leaseKey = objectKey('kube-system', 'kube-controller-manager');
/** Seconds are long enough for people, and too long for this test. */
const hasty = [
  '--leader-elect=true',
  '--leader-elect-lease-duration=1s',
  '--leader-elect-renew-deadline=500ms',
  '--leader-elect-retry-period=50ms',
];

/** Counts the terms in which it ran. */
function createCounter() {
  const terms = { started: 0, running: 0 };
  const controller = defineController({
    name: 'counting-controller',
    create: () => ({
      name: 'counting-controller',
      async run(signal) {
        terms.started += 1;
        terms.running += 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        terms.running -= 1;
      },
    }),
  });
  return { terms, controllers: [controller] };
}

describe('the manager of a sandbox', () => {
  test('leads again after it has lost its lease, and stops with the sandbox', async ({ signal }) => {
    await using sandbox = await startSandbox();
    const connection = await loadKubeconfig({ path: sandbox.kubeconfigFile }, systemClock);
    const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'test' });
    const client = clients.clientFor('test');
    const { terms, controllers } = createCounter();
    const logger = new RecordingLogger();
    const loop = new Loop(systemClock);
    const stop = new AbortController();
    const argv = [`--kubeconfig=${sandbox.kubeconfigFile}`, '--secure-port=0', ...hasty];
    const running = runManager(argv, { controllers, logger, environment: {}, loop }, stop.signal);
    await eventually(async () => terms.running === 1, signal);
    expect(loop.state().lease).toMatchObject({ name: leaseKey, isOurs: true });

    const spec = { holderIdentity: 'somebody-else', leaseDurationSeconds: 1 };
    await client.patch(Leases, leaseKey, { type: 'merge', body: { spec } }, signal);
    await eventually(async () => terms.running === 0 && loop.caches === undefined, signal);
    await eventually(async () => terms.started === 2 && terms.running === 1, signal);
    expect(loop.state().lease?.isOurs).toBe(true);
    expect(loop.caches).toBeDefined();
    expect(logger.lines.filter(({ message }) => message.includes('starts again'))).toHaveLength(1);

    stop.abort();
    await running;
    expect(terms).toEqual({ started: 2, running: 0 });
    clients.close();
  });

  for (const flag of ['--help', '--version']) {
    test(`does not accept ${flag}`, async ({ signal }) => {
      const { controllers } = createCounter();
      const deps = { controllers, logger: new RecordingLogger(), environment: {} };
      await expect(runManager([flag], deps, signal)).rejects.toThrow('cannot be passed');
    });
  }
});
