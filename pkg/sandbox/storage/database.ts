import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { parseJson, type ObjectKey, type UntypedObject } from '../../api/index.ts';
import type { Persistence, SavedObject } from './persistence.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    storage TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (storage, key)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 0), version INTEGER NOT NULL);
`;

/**
 * Keeps objects in an SQLite database. All writes of one turn of the event loop are one transaction: a thousand writes
 * at once wait for the disk once.
 */
export function openDatabase(directory: string): Persistence {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(directory, 'sandbox.db'));
  // Two sandboxes on one database would both assign the same versions.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec(schema);
  return new Database(database);
}

class Database implements Persistence {
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #setVersion: StatementSync;
  #batch:
    | { readonly promise: Promise<void>; readonly resolve: () => void; readonly reject: (error: unknown) => void }
    | undefined;
  #version = 0;
  /** Once a write has failed, memory and disk differ: no later write may be acknowledged. */
  #failure: Error | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#put = database.prepare(
      'INSERT INTO objects (storage, key, version, json) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version, json = excluded.json',
    );
    this.#remove = database.prepare('DELETE FROM objects WHERE storage = ? AND key = ?');
    this.#setVersion = database.prepare(
      'INSERT INTO state (id, version) VALUES (0, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
    );
  }

  load(): { readonly version: number; readonly objects: Iterable<SavedObject> } {
    const row = this.#database.prepare('SELECT version FROM state').get();
    return { version: Number(row?.['version'] ?? 0), objects: this.#objects() };
  }

  *#objects(): Generator<SavedObject> {
    for (const row of this.#database.prepare('SELECT storage, key, version, json FROM objects').iterate()) {
      yield {
        storage: String(row['storage']),
        key: String(row['key']) as ObjectKey, // as it was given to `put`
        version: Number(row['version']),
        object: parseJson(Buffer.from(String(row['json']))) as UntypedObject, // as it was given to `put`
      };
    }
  }

  put({ storage, key, object, version }: SavedObject): void {
    this.#begin(version);
    this.#put.run(storage, key, version, JSON.stringify(object));
  }

  remove({ storage, key, version }: Omit<SavedObject, 'object'>): void {
    this.#begin(version);
    this.#remove.run(storage, key);
  }

  durable(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#batch?.promise;
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#commit();
    this.#database.close();
  }

  #begin(version: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#version = version;
    if (this.#batch !== undefined) return;
    this.#database.exec('BEGIN');
    this.#batch = Promise.withResolvers<void>();
    this.#batch.promise.catch(() => {}); // a write of the sandbox itself, which nobody awaits, may fail too
    setImmediate(() => this.#commit());
  }

  #commit(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    try {
      this.#setVersion.run(this.#version);
      this.#database.exec('COMMIT');
      batch.resolve();
    } catch (error) {
      this.#failure = new DatabaseError('failed to write the database', { cause: error });
      batch.reject(this.#failure);
    }
  }
}

/** The database on disk cannot be written. No later write is accepted. */
class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly reason = 'DatabaseFailed';
}
