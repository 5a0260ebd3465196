import { identityKey, type Identity } from './identity.ts';

/**
 * Owners that the API server has confirmed not to exist. Their uids never come back, so this does not grow old; it is
 * only bounded. It saves one question per dependent when an owner of thousands has gone.
 */
export class AbsentOwners {
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #keys = new Set<string>();

  constructor(limit = 500) {
    this.#limit = limit;
  }

  add(owner: Identity): void {
    this.#touch(identityKey(owner));
    if (this.#keys.size <= this.#limit) return;
    const [oldest] = this.#keys;
    if (oldest !== undefined) this.#keys.delete(oldest);
  }

  has(owner: Identity): boolean {
    const key = identityKey(owner);
    if (!this.#keys.has(key)) return false;
    this.#touch(key);
    return true;
  }

  #touch(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
  }
}
