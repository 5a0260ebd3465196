/** The watchers of the sandbox bench, in their own thread: watches that count their events. */
import { workerData } from 'node:worker_threads';
import * as z from 'zod';
import { Pods } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';

const data = z.object({
  path: z.string(),
  resourceVersion: z.string(),
  watchers: z.number(),
  counter: z.instanceof(SharedArrayBuffer),
});
const { path, resourceVersion, watchers, counter } = data.parse(workerData);
const count = new Int32Array(counter);
const connection = await loadKubeconfig({ path }, systemClock);
const clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'bench' });
const client = clients.processClientFor('crowd', { qps: 0 });
const forever = new AbortController().signal; // the thread is ended from outside

await Promise.all(
  Array.from({ length: watchers }, async () => {
    const events = client.watch(Pods, { namespace: 'default', resourceVersion }, forever);
    for await (const event of events) if (event.type === 'ADDED') Atomics.add(count, 0, 1);
  }),
);
