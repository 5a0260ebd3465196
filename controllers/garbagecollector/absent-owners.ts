import { LRUCache } from 'lru-cache';

import { identityKey, type Identity } from './identity.ts';

/**
 * Owners that the API server has confirmed not to exist. Entries never become invalid, because uids are not reused. After
 * the deletion of an owner with thousands of dependents, this saves one request per dependent.
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
