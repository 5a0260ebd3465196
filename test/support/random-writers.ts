import { ConfigMaps, objectKey } from '../../pkg/api/index.ts';
import { isAlreadyExists, isNotFound } from '../../pkg/client/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { seededRandom } from './random.ts';

export interface RandomWritersOptions {
  readonly namespace: string;
  readonly seed: number;
  /** How many objects the changes are spread over. Default 200. */
  readonly names?: number | undefined;
}

const writerCount = 16;

/** Creates, updates and deletes ConfigMaps at random, several at once. No two writers share an object. */
export class RandomWriters {
  /** The writes that the server confirmed, as `name@resourceVersion` or `name deleted`. */
  readonly made: string[] = [];
  readonly #client: Client;
  readonly #namespace: string;
  readonly #random: () => number;
  readonly #names: number;
  readonly #existing = new Set<string>();
  #running = 0;

  constructor(client: Client, { namespace, seed, names = 200 }: RandomWritersOptions) {
    this.#client = client;
    this.#namespace = namespace;
    this.#random = seededRandom(seed);
    this.#names = names;
  }

  /** Makes this many changes. If one fails during a disruption, the writer waits until the disruption is over. */
  async run(changes: number, signal: AbortSignal, trouble?: Promise<void>): Promise<void> {
    let left = changes;
    const work = async (writer: number): Promise<void> => {
      while (left > 0) {
        left--;
        try {
          await this.#change(writer, signal);
        } catch (error) {
          if (trouble === undefined || signal.aborted) throw error;
          left++;
          await trouble;
        }
      }
    };
    this.#running++;
    try {
      await Promise.all(Array.from({ length: writerCount }, (_, writer) => work(writer)));
    } finally {
      this.#running--;
    }
  }

  /** Resolves when this many more changes have been made, or all pending ones. */
  async until(changes: number, signal: AbortSignal): Promise<void> {
    const before = this.made.length;
    await eventually(async () => this.#running === 0 || this.made.length >= before + changes, signal);
  }

  async #change(writer: number, signal: AbortSignal): Promise<void> {
    const name = `w${writer}-${Math.floor((this.#random() * this.#names) / writerCount)}`;
    const wish = this.#random();
    try {
      if (!this.#existing.has(name)) await this.#create(writer, name, signal);
      else if (wish < 0.2) await this.#delete(name, signal);
      else await this.#update(name, String(wish), signal);
    } catch (error) {
      // After a failure it is not known whether the write was applied; the next attempt on the object finds out.
      if (isAlreadyExists(error)) this.#existing.add(name);
      else if (isNotFound(error)) this.#existing.delete(name);
      else throw error;
    }
  }

  async #create(writer: number, name: string, signal: AbortSignal): Promise<void> {
    const object = { metadata: { namespace: this.#namespace, name }, data: { writer: String(writer) } };
    const { metadata } = await this.#client.create(ConfigMaps, object, signal);
    this.#existing.add(name);
    this.made.push(`${name}@${metadata.resourceVersion}`);
  }

  async #update(name: string, value: string, signal: AbortSignal): Promise<void> {
    const patch = { type: 'merge', body: { data: { value } } } as const;
    const { metadata } = await this.#client.patch(ConfigMaps, objectKey(this.#namespace, name), patch, signal);
    this.made.push(`${name}@${metadata.resourceVersion}`);
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    await this.#client.delete(ConfigMaps, objectKey(this.#namespace, name), {}, signal);
    this.#existing.delete(name);
    this.made.push(`${name} deleted`);
  }
}
