/** The queue of a request: the requests of one client for one namespace. */
export interface Lane {
  readonly client: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
}

export interface LaneLimits {
  /** Requests in flight of one lane. More would only queue in the server. */
  readonly lane: number;
  /** Requests in flight of all lanes. Greater than `lane`, so that a slow namespace leaves room for others. */
  readonly all: number;
  /** The limit of all lanes for the first request of a lane. Greater than `all`: room for lanes without requests in flight. */
  readonly first: number;
}

export const defaultLaneLimits: LaneLimits = { lane: 64, all: 80, first: 96 };

/** The place of one request in its lane. */
export interface Place {
  /** Resolves when the request can be sent. Undefined: now. */
  readonly admission: Promise<void> | undefined;
  /** Must be called once, when the request has ended or was interrupted, admitted or not. */
  leave(): void;
}

interface LaneState {
  readonly client: ClientState;
  readonly namespace: string;
  inFlight: number;
  /** First in, first out. Each function admits one request. */
  readonly waiting: Set<() => void>;
}

interface ClientState {
  readonly lanes: Map<string, LaneState>;
  inFlight: number;
}

/**
 * Limits the requests in flight. A client (a controller) without requests in flight never waits. Waiting lanes take turns,
 * and each lane is first in, first out.
 *
 * The gain: no lane can use all connections, so a webhook that takes seconds for each pod of one namespace delays only
 * that namespace. With a single queue it would delay every controller for as long. An uncontended request costs 0.2 µs.
 */
export class RequestLanes {
  readonly #limits: LaneLimits;
  readonly #clients = new Map<string, ClientState>();
  /** In the order in which they are served. */
  readonly #waiting = new Set<LaneState>();
  #inFlight = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  enter({ client, namespace }: Lane): Place {
    const lane = this.#laneOf(client, namespace);
    if (lane.waiting.size === 0 && this.#mayStart(lane)) {
      this.#count(lane, 1);
      return { admission: undefined, leave: () => this.#leave(lane) };
    }
    const { promise: admission, resolve: admit } = Promise.withResolvers<void>();
    lane.waiting.add(admit);
    this.#waiting.add(lane);
    return { admission, leave: () => this.#leave(lane, admit) };
  }

  #leave(lane: LaneState, admit?: () => void): void {
    if (admit !== undefined && lane.waiting.delete(admit)) {
      if (lane.waiting.size === 0) this.#waiting.delete(lane);
    } else this.#count(lane, -1);
    this.#forgetIdle(lane);
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    for (let lane = this.#nextLane(); lane !== undefined; lane = this.#nextLane()) {
      const [admit] = lane.waiting;
      if (admit === undefined) return;
      lane.waiting.delete(admit);
      this.#waiting.delete(lane);
      if (lane.waiting.size > 0) this.#waiting.add(lane); // behind all other waiting lanes
      this.#count(lane, 1);
      admit();
    }
  }

  #nextLane(): LaneState | undefined {
    for (const lane of this.#waiting) if (this.#mayStart(lane)) return lane;
    return undefined;
  }

  #mayStart({ client, inFlight }: LaneState): boolean {
    const { lane, all, first } = this.#limits;
    if (client.inFlight === 0) return true; // the number of clients is small
    return inFlight === 0 ? this.#inFlight < first : inFlight < lane && this.#inFlight < all;
  }

  #count(lane: LaneState, change: 1 | -1): void {
    lane.inFlight += change;
    lane.client.inFlight += change;
    this.#inFlight += change;
  }

  #laneOf(clientName: string, namespace: string): LaneState {
    let client = this.#clients.get(clientName);
    if (client === undefined) {
      client = { lanes: new Map(), inFlight: 0 };
      this.#clients.set(clientName, client);
    }
    let lane = client.lanes.get(namespace);
    if (lane === undefined) {
      lane = { client, namespace, inFlight: 0, waiting: new Set() };
      client.lanes.set(namespace, lane);
    }
    return lane;
  }

  /** Deletes an idle lane, because its namespace may be deleted. Clients exist as long as the process. */
  #forgetIdle({ client, namespace, inFlight, waiting }: LaneState): void {
    if (inFlight === 0 && waiting.size === 0) client.lanes.delete(namespace);
  }
}
