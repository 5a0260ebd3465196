import { apiVersionOf, isEqualJson, resourceName, type Kind } from '../../pkg/api/index.ts';
import type { Discovery, DiscoveryResult } from '../../pkg/client/index.ts';
import type { ReconcileResult, Syncable } from '../../pkg/controller/index.ts';
import { Latch } from '../../informers/index.ts';
import { isIgnoredByQuota } from '../../pkg/quota/index.ts';

/** How often discovery is refreshed. */
export const discoveryPeriodMs = 30_000;
/** Discovery shows a new definition with some delay. So it is refreshed a few times in short intervals. */
const soonMs = 3000;
const quickRefreshes = 3;
const verbs = ['create', 'list', 'watch', 'delete'];
/** While a definition is being deleted, its objects cannot be created any more. */
const remainingVerbs = ['list', 'watch', 'delete'];

/**
 * The resources of the server whose objects can be counted, by name. One that was counted before is counted until it is
 * gone: what is deleted with its definition must become free.
 */
function selectQuotable({ resources }: DiscoveryResult, before: ReadonlyMap<string, Kind>): Map<string, Kind> {
  const quotable = resources.filter(({ kind, verbs: offered }) => {
    const isKnown = before.get(resourceName(kind))?.version === kind.version;
    const needed = isKnown ? remainingVerbs : verbs;
    return kind.namespaced && needed.every((verb) => offered.has(verb)) && !isIgnoredByQuota(resourceName(kind));
  });
  return new Map(quotable.map(({ kind }) => [resourceName(kind), kind]));
}

/** Follows the kinds that discovery lists. */
export class QuotableKinds implements Syncable {
  readonly #discovery: Discovery;
  readonly #onChange: () => void;
  readonly #discovered = new Latch();
  #kinds: ReadonlyMap<string, Kind> = new Map();
  #served: ReadonlySet<string> = new Set();
  #quickRefreshes = 0;

  constructor(discovery: Discovery, onChange: () => void) {
    this.#discovery = discovery;
    this.#onChange = onChange;
  }

  get(resource: string): Kind | undefined {
    return this.#kinds.get(resource);
  }

  /** Whether the server has this kind in the version that the program knows, also if it cannot be counted. */
  serves(kind: Kind): boolean {
    return this.#served.has(`${apiVersionOf(kind)}/${kind.resource}`);
  }

  /** Resolves after the first discovery. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await this.#discovered.wait(signal);
  }

  /** Definitions have changed: discovery will soon. */
  expectChange(): void {
    this.#quickRefreshes = quickRefreshes;
  }

  async sync(signal: AbortSignal): Promise<ReconcileResult> {
    await this.#discovery.refresh(signal);
    const found = await this.#discovery.preferred(signal);
    const kinds = selectQuotable(found, this.#kinds);
    // An empty discovery is a fault of the server: it must not end all counts.
    if (kinds.size > 0) {
      for (const [resource, kind] of this.#kinds) {
        // Resources whose discovery failed are unknown, not removed.
        if (!kinds.has(resource) && found.failures.has(apiVersionOf(kind))) kinds.set(resource, kind);
      }
      const isChanged = !isEqualJson(namesOf(this.#kinds), namesOf(kinds));
      this.#kinds = kinds;
      this.#served = new Set(found.resources.map(({ kind }) => `${apiVersionOf(kind)}/${kind.resource}`));
      this.#discovered.open();
      if (isChanged) this.#onChange();
    }
    return { requeueAfterMs: this.#quickRefreshes-- > 0 ? soonMs : discoveryPeriodMs };
  }
}

function namesOf(kinds: ReadonlyMap<string, Kind>): string[] {
  return [...kinds].map(([resource, kind]) => `${resource} ${apiVersionOf(kind)}`).sort();
}
