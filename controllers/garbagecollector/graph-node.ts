import type { DeletionPhase } from './decide.ts';
import { noReferences, type Identity, type Reference } from './identity.ts';

/** The type of an object. The graph compares types by reference, so each type is one object. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface GraphNode extends Identity {
  readonly type: ObjectType;
  readonly owners: readonly Reference[];
  readonly dependents: ReadonlySet<GraphNode>;
  readonly phase: DeletionPhase;
  /** False for a virtual object: it is only known from references and may not exist. */
  readonly isObserved: boolean;
}

const noDependents: ReadonlySet<Node> = new Set();

/** Only the graph writes to nodes. */
export class Node implements GraphNode {
  readonly uid: string;
  type: ObjectType;
  namespace: string;
  name: string;
  owners = noReferences;
  phase: DeletionPhase = 'none';
  isObserved: boolean;
  /** Undefined for most objects, which have no dependents. */
  #dependents: Set<Node> | undefined;

  constructor(type: ObjectType, { namespace, name, uid }: Identity, isObserved: boolean) {
    this.type = type;
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.isObserved = isObserved;
  }

  get apiVersion(): string {
    return this.type.apiVersion;
  }

  get kind(): string {
    return this.type.kind;
  }

  get dependents(): ReadonlySet<Node> {
    return this.#dependents ?? noDependents;
  }

  addDependent(dependent: Node): void {
    this.#dependents ??= new Set();
    this.#dependents.add(dependent);
  }

  deleteDependent(dependent: Node): void {
    this.#dependents?.delete(dependent);
    if (this.#dependents?.size === 0) this.#dependents = undefined;
  }
}
