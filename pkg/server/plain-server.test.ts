import { describe, expect, test } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { HealthChecks } from './health.ts';
import { createPlainServer } from './plain-server.ts';

const never = new AbortController().signal;

function createServer(port: number | 'any' = 'any', problem?: string) {
  const readyz = new HealthChecks();
  readyz.add({ name: 'cache', check: () => problem });
  const health = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz };
  const metrics = { contentType: 'text/plain', metrics: async () => 'up 1\n' };
  const content = { health, metrics, config: {}, profiling: false };
  return createPlainServer({ host: '127.0.0.1', port, content, clock: new FakeClock(), logger: silentLogger });
}

describe('a plain server', () => {
  test('shows health and metrics to everyone, and nothing to debug', async () => {
    const server = createServer('any', 'not listed');
    await server.listen(never);
    const base = `http://127.0.0.1:${server.address?.port}`;
    const get = async (path: string): Promise<[number, string]> => {
      const answer = await fetch(`${base}${path}`, { headers: { 'accept-encoding': 'identity' } });
      return [answer.status, await answer.text()];
    };
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(await get('/metrics')).toEqual([200, 'up 1\n']);
    expect((await get('/readyz'))[0]).toBe(500);
    expect(await get('/readyz/cache')).toEqual([500, 'internal server error: not listed\n']);
    expect((await get('/debug/pprof/heap'))[0]).toBe(404);
    await server.close();
    expect(server.address).toBeUndefined();
    await expect(fetch(base)).rejects.toThrow();
  });

  test('says which port it cannot have', async () => {
    const first = createServer();
    await first.listen(never);
    const port = first.address?.port ?? 0;
    const second = createServer(port);
    await expect(second.listen(never)).rejects.toThrow(`server.port: cannot listen on 127.0.0.1:${port}:`);
    await second.close();
    await first.close();
  });
});
