import { resourceName } from '../api/index.ts';
import type { FinishedReconcile, ObservedWork } from '../controller/index.ts';
import { keyText } from './key-text.ts';
import type { Lane } from './protocol.ts';
import { TracedStore } from './traced-store.ts';

/** One bar of a chart. */
const sampleMs = 5000;
/** Five minutes. */
const mostSamples = 60;
/** Keys of each list that are sent. */
const mostKeys = 12;

interface Sample {
  /** Which period of `sampleMs` it is about. */
  period: number;
  depth: number;
  count: number;
  totalMs: number;
}

/**
 * The counters of one queue and its workers. They are kept while nobody looks, too, so that the charts begin in the past:
 * some additions for each reconcile, and no timer.
 */
export class LaneCounters {
  readonly #work: ObservedWork;
  readonly #samples: Sample[] = [];
  #done = 0;
  #conflicts = 0;
  #failed = 0;

  constructor(work: ObservedWork) {
    this.#work = work;
  }

  /** The resource of the objects that the keys name, if the workers have a cache of them. */
  get resource(): string | undefined {
    const { primary } = this.#work;
    return primary instanceof TracedStore ? resourceName(primary.kind) : undefined;
  }

  get work(): ObservedWork {
    return this.#work;
  }

  count({ outcome, durationMs }: FinishedReconcile, nowMs: number): void {
    if (outcome === 'conflict') this.#conflicts++;
    else if (outcome === 'error' || outcome === 'terminal_error') this.#failed++;
    else this.#done++;
    const sample = this.#sampleAt(Math.floor(nowMs / sampleMs));
    sample.count++;
    sample.totalMs += durationMs;
    sample.depth = Math.max(sample.depth, this.#work.queue.length);
  }

  show(nowMs: number): Lane {
    const { name, queue } = this.#work;
    const { name: queueName, ...held } = queue.inspect(mostKeys);
    const text = <E extends { readonly key: unknown }>(each: E) => ({ ...each, key: keyText(each.key) });
    return {
      controller: name,
      queue: queueName,
      resource: this.resource,
      added: held.added,
      done: this.#done,
      conflicts: this.#conflicts,
      failed: this.#failed,
      waiting: held.waiting.map(keyText),
      waitingCount: held.waitingCount,
      delayed: held.delayed.map(text),
      delayedCount: held.delayedCount,
      running: held.running.map(text),
      ...this.#charts(Math.floor(nowMs / sampleMs)),
    };
  }

  #charts(period: number): Pick<Lane, 'depths' | 'latenciesMs' | 'sampleMs'> {
    const samples = new Map(this.#samples.map((sample) => [sample.period, sample]));
    const shown = Array.from({ length: mostSamples }, (_, index) => samples.get(period - mostSamples + 1 + index));
    return {
      depths: shown.map((sample) => sample?.depth ?? 0),
      latenciesMs: shown.map((sample) => (sample === undefined ? 0 : round(sample.totalMs / sample.count))),
      sampleMs,
    };
  }

  #sampleAt(period: number): Sample {
    const last = this.#samples.at(-1);
    if (last?.period === period) return last;
    const sample = { period, depth: 0, count: 0, totalMs: 0 };
    this.#samples.push(sample);
    if (this.#samples.length > mostSamples) this.#samples.shift();
    return sample;
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
