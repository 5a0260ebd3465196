import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { load } from 'js-yaml';
import * as z from 'zod';
import type { ClusterAccess } from '../../cluster/index.ts';

export interface Answer {
  readonly status: number;
  /** Integers that a JavaScript number cannot hold are bigints. */
  readonly body: unknown;
}

/**
 * Sends requests as the administrator. It shares no code with the client under test: it sends exactly what it is given,
 * including bigints as int64.
 */
export interface Sender extends Disposable {
  send(method: string, path: string, body?: unknown): Promise<Answer>;
}

const kubeconfig = z.object({
  users: z.array(
    z.object({ user: z.object({ 'client-certificate-data': z.string(), 'client-key-data': z.string() }) }),
  ),
});

export function createSender(cluster: ClusterAccess): Sender {
  const [identity] = kubeconfig.parse(load(readFileSync(cluster.kubeconfig(), 'utf8'))).users;
  const decode = (base64 = ''): Buffer => Buffer.from(base64, 'base64');
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(cluster.files.ca),
    cert: decode(identity?.user['client-certificate-data']),
    key: decode(identity?.user['client-key-data']),
  });
  return {
    send(method, path, body) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const payload = body === undefined ? '' : writeExactly(body);
      const headers = {
        accept: 'application/json',
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        'content-length': Buffer.byteLength(payload), // Node omits it for the body of a delete
      };
      const outgoing = request(new URL(path, cluster.url), { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? parseExactly(text) : text });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
      return promise;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Distinguishes a string that represents an integer from text: the character is reserved for private use. */
const mark = '\u{e000}int64:';

function writeExactly(body: unknown): string {
  const text = JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? `${mark}${value}` : value));
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

function parseExactly(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? BigInt(context?.source ?? value)
      : value,
  );
}
