import { LRUCache } from 'lru-cache';

import { identityKey, type Identity } from './identity.ts';

/**
 * Owners that the API server has confirmed not to exist. Their uids never come back, so this does not grow old; it is
 * only bounded. It saves one question per dependent when an owner of thousands has gone.
 */
export class AbsentOwners {
  readonly #keys: LRUCache<string, true>;

  constructor(limit = 500) {
    this.#keys = new LRUCache({ max: limit });
  }

  add(owner: Identity): void {
    this.#keys.set(identityKey(owner), true);
  }

  has(owner: Identity): boolean {
    return this.#keys.get(identityKey(owner)) === true;
  }
}
