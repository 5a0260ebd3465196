import type { Kind } from '../../pkg/api/index.ts';
import type { TestContext } from './controller-context.ts';

/** Can hold the events of a kind, as a watch that lags. */
export function gateOf({ resource }: Kind, { server }: TestContext): { hold(): void; open(): void } {
  let [opened, open] = [Promise.resolve(), (): void => {}];
  const watch: (typeof server)['watchBatches'] = server.watchBatches.bind(server);
  server.watchBatches = async function* (kind, options, ended) {
    for await (const batch of watch(kind, options, ended)) {
      ended.addEventListener('abort', () => open(), { once: true });
      if (kind.resource === resource) await opened;
      yield batch;
    }
  };
  const hold = (): void => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [opened, open] = [promise, resolve];
  };
  return { hold, open: () => open() };
}
