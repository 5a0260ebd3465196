import type { Kind } from '../api/index.ts';

/** One resource in the discovery of the server. */
export interface DiscoveredResource {
  readonly kind: Kind;
  readonly verbs: ReadonlySet<string>;
}

export interface DiscoveryResult {
  readonly resources: readonly DiscoveredResource[];
  /** Group versions whose discovery failed, with the reason. Their resources are unknown, not absent. */
  readonly failures: ReadonlyMap<string, string>;
}

/** The resources of the server, without subresources. Cached until `refresh`. */
export interface Discovery {
  /** Each resource in its preferred version. */
  preferred(signal: AbortSignal): Promise<DiscoveryResult>;
  /** Every resource in every version. */
  all(signal: AbortSignal): Promise<DiscoveryResult>;
  /** Finds the kind of an owner reference. Refreshes once if the kind is unknown. */
  kindFor(apiVersion: string, kind: string, signal: AbortSignal): Promise<Kind | undefined>;
  refresh(signal: AbortSignal): Promise<void>;
}
