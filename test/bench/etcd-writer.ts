import { Agent, request } from 'node:http';

/** Requests to etcd in flight: enough to keep etcd and the API server busy. */
const writers = 16;

/**
 * Writes objects directly to etcd, as the API server would have stored them. Through the API server, a full cluster would
 * take hours, and heartbeats would take the CPU that the bench is about.
 */
export class EtcdWriter implements Disposable {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(etcdUrl: string) {
    this.#url = etcdUrl;
  }

  async putAll<T>(items: Iterable<T>, toEntry: (item: T) => readonly [key: string, json: string]): Promise<void> {
    const left = Iterator.from(items);
    const write = async (): Promise<void> => {
      for (const item of left) await this.put(...toEntry(item));
    };
    await Promise.all(Array.from({ length: writers }, write));
  }

  async put(key: string, json: string): Promise<void> {
    await this.#post('/v3/kv/put', { key: base64(key), value: base64(json) });
  }

  async delete(key: string): Promise<void> {
    await this.#post('/v3/kv/deleterange', { key: base64(key) });
  }

  #post(path: string, body: object): Promise<void> {
    const url = this.#url + path;
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent: this.#agent }, (response) => {
        response.resume();
        response.once('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`POST ${url}: ${String(response.statusCode)}`));
        });
      });
      sent.once('error', reject);
      sent.end(JSON.stringify(body));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
