import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A loopback port that is free right now. It lies below the range from which the kernel numbers outgoing connections:
 * otherwise, while a server is down for a restart, one of its clients could be given the server's own port.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error('find a free loopback port: a hundred random ones were all taken');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false; // whatever the reason, this port cannot be had
  } finally {
    server.close();
  }
}
