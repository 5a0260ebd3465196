/** Where a request waits for its turn: with others of the same client, for the same namespace. */
export interface Lane {
  readonly client: string;
  /** Empty for what belongs to no namespace. */
  readonly namespace: string;
}

export interface LaneLimits {
  /** Requests of one lane that may be under way. More would only queue in the server. */
  readonly lane: number;
  /** Requests of all lanes. Above `lane`, so that one slow namespace leaves room for the others. */
  readonly all: number;
  /** Requests of all lanes while the next one is the first of its lane: room for namespaces that have none under way. */
  readonly first: number;
}

export const defaultLaneLimits: LaneLimits = { lane: 64, all: 80, first: 96 };

interface LaneState {
  readonly client: ClientState;
  readonly namespace: string;
  underWay: number;
  /** In the order of their coming. */
  readonly waiting: Set<() => void>;
}

interface ClientState {
  readonly lanes: Map<string, LaneState>;
  underWay: number;
}

/**
 * Decides which request may go to the server, and which waits. A client (a controller) with none under way never waits.
 * Lanes that wait are served in turn; requests of one lane in the order of their coming. No lane can fill all
 * connections, so a webhook that takes seconds for each pod of one namespace holds up that namespace alone.
 */
export class RequestLanes {
  readonly #limits: LaneLimits;
  readonly #later: (serve: () => void) => void;
  readonly #clients = new Map<string, ClientState>();
  /** The next to be served comes first. */
  readonly #waiting = new Set<LaneState>();
  #underWay = 0;
  #isServing = false;

  /** `later` calls back when the connection of a request that has just ended can be used again. */
  constructor(limits: LaneLimits, later: (serve: () => void) => void) {
    this.#limits = limits;
    this.#later = later;
  }

  /**
   * Calls `start` when the request may go: before it returns, if that is now. Returns what to call, once, when the
   * request has ended or has been given up, started or not.
   */
  enter({ client, namespace }: Lane, start: () => void): () => void {
    const lane = this.#laneOf(client, namespace);
    if (lane.waiting.size === 0 && !this.#isServing && this.#mayStart(lane)) {
      this.#count(lane, 1);
      start();
    } else {
      lane.waiting.add(start);
      this.#waiting.add(lane);
    }
    return () => this.#leave(lane, start);
  }

  #leave(lane: LaneState, start: () => void): void {
    if (lane.waiting.delete(start)) {
      if (lane.waiting.size === 0) this.#waiting.delete(lane);
    } else this.#count(lane, -1);
    this.#forgetIdle(lane);
    if (this.#waiting.size === 0 || this.#isServing) return;
    this.#isServing = true;
    this.#later(this.#serve);
  }

  readonly #serve = (): void => {
    this.#isServing = false;
    for (let lane = this.#nextLane(); lane !== undefined; lane = this.#nextLane()) {
      const [start] = lane.waiting;
      if (start === undefined) return;
      lane.waiting.delete(start);
      this.#waiting.delete(lane);
      if (lane.waiting.size > 0) this.#waiting.add(lane); // behind all others that wait
      this.#count(lane, 1);
      start();
    }
  };

  #nextLane(): LaneState | undefined {
    for (const lane of this.#waiting) if (this.#mayStart(lane)) return lane;
    return undefined;
  }

  #mayStart({ client, underWay }: LaneState): boolean {
    const { lane, all, first } = this.#limits;
    if (client.underWay === 0) return true; // there are only so many clients
    return underWay === 0 ? this.#underWay < first : underWay < lane && this.#underWay < all;
  }

  #count(lane: LaneState, change: 1 | -1): void {
    lane.underWay += change;
    lane.client.underWay += change;
    this.#underWay += change;
  }

  #laneOf(clientName: string, namespace: string): LaneState {
    let client = this.#clients.get(clientName);
    if (client === undefined) {
      client = { lanes: new Map(), underWay: 0 };
      this.#clients.set(clientName, client);
    }
    let lane = client.lanes.get(namespace);
    if (lane === undefined) {
      lane = { client, namespace, underWay: 0, waiting: new Set() };
      client.lanes.set(namespace, lane);
    }
    return lane;
  }

  /** Namespaces come and go. Clients stay. */
  #forgetIdle({ client, namespace, underWay, waiting }: LaneState): void {
    if (underWay === 0 && waiting.size === 0) client.lanes.delete(namespace);
  }
}
