import type { ReconcileRecord } from './protocol.ts';

/** The reconciles of all controllers: a few seconds of a busy manager, hours of a calm one. */
const mostRecords = 1000;
/** The reconciles of one object that somebody looks at. */
const mostFollowed = 100;

/** A record, and where its key belongs. */
export interface Entry {
  readonly record: ReconcileRecord;
  /** The resource of the object that the key names, if known. */
  readonly resource: string | undefined;
}

/** The last reconciles, bounded. Those of objects that somebody looks at stay longer. */
export class History {
  /** A ring: `#next` is the place of the oldest record once it is full. */
  readonly #ring: Entry[] = [];
  #next = 0;
  /** Counted, because several people may look at one object. */
  readonly #followed = new Map<string, { readonly entries: Entry[]; followers: number }>();

  add(entry: Entry): void {
    this.#ring[this.#next] = entry;
    this.#next = (this.#next + 1) % mostRecords;
    if (this.#followed.size === 0) return;
    const followed = this.#followed.get(idOf(entry.resource ?? '', entry.record.key));
    if (followed === undefined) return;
    followed.entries.push(entry);
    if (followed.entries.length > mostFollowed) followed.entries.shift();
  }

  /** Newest first. */
  of(resource: string, key: string): readonly ReconcileRecord[] {
    const followed = this.#followed.get(idOf(resource, key))?.entries ?? this.#find(resource, key);
    return followed.map(({ record }) => record).toReversed();
  }

  /** Keeps the records of an object until the returned function is called. */
  follow(resource: string, key: string): () => void {
    const id = idOf(resource, key);
    const followed = this.#followed.get(id) ?? { entries: this.#find(resource, key), followers: 0 };
    this.#followed.set(id, followed);
    followed.followers += 1;
    return () => {
      followed.followers -= 1;
      if (followed.followers === 0) this.#followed.delete(id);
    };
  }

  #find(resource: string, key: string): Entry[] {
    const oldestFirst = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return oldestFirst.filter((entry) => entry.record.key === key && entry.resource === resource).slice(-mostFollowed);
  }
}

function idOf(resource: string, key: string): string {
  return `${resource} ${key}`;
}
