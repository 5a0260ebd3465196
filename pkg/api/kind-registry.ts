import { apiVersionOf, type Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';

/**
 * Finds a kind by its API version and kind (`apps/v1`, `Deployment`) or resource (`apps/v1`, `deployments`).
 * Registering the same kind twice is allowed. Registering one kind with two different resources throws.
 */
export class KindRegistry {
  readonly #byKind = new Map<string, Kind>();
  readonly #byResource = new Map<string, Kind>();

  constructor(kinds: Iterable<Kind> = []) {
    for (const kind of kinds) this.register(kind);
  }

  register(kind: Kind): void {
    const apiVersion = apiVersionOf(kind);
    const known = this.#byKind.get(`${apiVersion}/${kind.kind}`);
    if (known !== undefined && (known.resource !== kind.resource || known.namespaced !== kind.namespaced)) {
      throw new Error(`kind ${kind.kind} of ${apiVersion} is already registered as ${known.resource}`);
    }
    this.#byKind.set(`${apiVersion}/${kind.kind}`, kind);
    this.#byResource.set(`${apiVersion}/${kind.resource}`, kind);
  }

  byKind(apiVersion: string, kind: string): Kind | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  byResource(apiVersion: string, resource: string): Kind | undefined {
    return this.#byResource.get(`${apiVersion}/${resource}`);
  }

  /** The kind that the object's `apiVersion` and `kind` name. */
  kindOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind | undefined {
    return this.byKind(object.apiVersion ?? '', object.kind ?? '');
  }

  [Symbol.iterator](): Iterator<Kind> {
    return this.#byKind.values();
  }
}
