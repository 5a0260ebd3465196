import type { Kind } from '../api/index.ts';

/** One resource as the server's discovery lists it. */
export interface DiscoveredResource {
  readonly kind: Kind;
  readonly verbs: ReadonlySet<string>;
}

export interface DiscoveryResult {
  readonly resources: readonly DiscoveredResource[];
  /** Group versions that the server lists but could not describe, with the reason: their resources are unknown, not gone. */
  readonly failures: ReadonlyMap<string, string>;
}

/** What the server offers, cached until `refresh`. Subresources are left out. */
export interface Discovery {
  /** Each resource in its preferred version. */
  preferred(signal: AbortSignal): Promise<DiscoveryResult>;
  /** Every resource in every version. */
  all(signal: AbortSignal): Promise<DiscoveryResult>;
  /** Maps an owner reference to where its objects live; asks the server again once when the kind is unknown. */
  kindFor(apiVersion: string, kind: string, signal: AbortSignal): Promise<Kind | undefined>;
  refresh(signal: AbortSignal): Promise<void>;
}
