import {
  isBeingDeleted,
  keyOf,
  Pods,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { Store } from '../../informers/index.ts';
import { selectUnused } from './usage.ts';

type Claim = Cached<PersistentVolumeClaim>;

/** A list on its way, and the claims that it will answer for. */
interface Running {
  readonly questions: ReadonlySet<string>;
  readonly done: Promise<void>;
}

/**
 * The pods that the server has, for claims that no pod of the cache uses. The cache may not have observed a pod that has
 * just been bound to a node, and a claim that is gone cannot be brought back.
 *
 * One list answers for all claims of its namespace: 1,000 claims that are deleted together cost a few lists, not 1,000. An
 * answer that a terminating claim is unused stays true, because no kubelet starts a pod with such a claim.
 */
export class LivePods {
  readonly #client: Client;
  readonly #claims: Pick<Store<PersistentVolumeClaim>, 'list'>;
  readonly #isAsking: (claim: Claim) => boolean;
  readonly #unused = new Map<ObjectKey, string>();
  readonly #running = new Map<string, Running>();

  /** `isAsking`: whether a claim may be asked for, so that a list answers for it too. */
  constructor(client: Client, claims: Pick<Store<PersistentVolumeClaim>, 'list'>, isAsking: (claim: Claim) => boolean) {
    this.#client = client;
    this.#claims = claims;
    this.#isAsking = isAsking;
  }

  /** Each answer is given once. Asked again about the same claim, the server is asked again. */
  async isUsed(claim: Claim, signal: AbortSignal): Promise<boolean> {
    if (this.#take(claim)) return false;
    const namespace = claim.metadata.namespace ?? '';
    const running = this.#running.get(namespace);
    if (running?.questions.has(questionOf(claim)) === true) {
      await running.done;
      if (this.#take(claim)) return false;
    }
    await this.#list(namespace, signal);
    return !this.#take(claim);
  }

  forget(key: ObjectKey): void {
    this.#unused.delete(key);
  }

  async #list(namespace: string, signal: AbortSignal): Promise<void> {
    // Before the list: what is said of a terminating claim has to hold for every pod bound before its deletion.
    const claims = this.#claims.list(namespace).filter(this.#isAsking);
    const running = { questions: new Set(claims.map(questionOf)), done: this.#answer(namespace, claims, signal) };
    this.#running.set(namespace, running);
    try {
      await running.done;
    } finally {
      if (this.#running.get(namespace) === running) this.#running.delete(namespace);
    }
  }

  async #answer(namespace: string, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
    const { items } = await this.#client.listAll(Pods, { namespace }, signal);
    for (const claim of claims) this.#unused.delete(keyOf(claim));
    for (const claim of selectUnused(claims, items)) this.#unused.set(keyOf(claim), questionOf(claim));
  }

  #take(claim: Claim): boolean {
    const key = keyOf(claim);
    const known = this.#unused.get(key);
    this.#unused.delete(key);
    return known === questionOf(claim);
  }
}

/** An answer about a claim does not hold for another one of its name, nor for the time after its deletion began. */
function questionOf({ metadata }: Claim): string {
  return `${metadata.uid} ${isBeingDeleted(metadata) ? 'terminating' : 'active'}`;
}
