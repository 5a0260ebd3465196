import type { ControllerDefinition } from '../../pkg/controller/index.ts';
import { createTestContext, settle, startInTest, type TestContext } from './controller-context.ts';
import { apiError } from './recording-client.ts';

/** What happens to one write: the server refuses it, it fails, its response is lost, or the process is killed. */
export const writeFaults = ['conflict', 'failure', 'lost response', 'kill before', 'kill after'] as const;
export type WriteFault = (typeof writeFaults)[number];

/** A controller on a server of plain objects. If a fault kills it, another process takes its place. */
export class CrashingController implements AsyncDisposable {
  /** The number of writes so far. */
  writes = 0;
  readonly server: TestContext['server'];
  readonly clock: TestContext['clock'];
  readonly #create: () => readonly ControllerDefinition[];
  readonly #fault: { readonly at: number; readonly kind: WriteFault } | undefined;
  #life: { stop(): Promise<void> } | undefined;
  #isKilled = false;

  constructor(
    create: () => readonly ControllerDefinition[],
    fault?: { readonly at: number; readonly kind: WriteFault },
  ) {
    const first = createTestContext();
    this.server = first.server;
    this.clock = first.clock;
    this.#create = create;
    this.#fault = fault;
  }

  /** Lets it work for ten minutes, in which every retry comes. */
  async work(): Promise<void> {
    this.#start();
    for (let minute = 0; minute < 10; minute += 1) {
      await settle();
      if (this.#isKilled) await this.#restart();
      await this.clock.advance(60_000);
    }
    await settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#life?.stop();
  }

  async #restart(): Promise<void> {
    await this.#life?.stop();
    this.#life = undefined;
    this.#isKilled = false;
    this.#start();
    await settle();
  }

  #start(): void {
    if (this.#life !== undefined) return;
    const context = createTestContext({ after: this });
    const { client } = context;
    for (const when of ['before', 'after'] as const) client[when]('*', (action) => this.#disturb(when, action.verb));
    const lives = this.#create().map((definition) => startInTest(context, definition.create(context.context)));
    this.#life = {
      async stop() {
        for (const life of lives) await life.stop();
      },
    };
  }

  #disturb(when: 'before' | 'after', verb: string): void {
    if (['get', 'list', 'watch'].includes(verb)) return;
    if (this.#isKilled) throw apiError(503, 'ServiceUnavailable'); // a killed process writes nothing
    if (when === 'before') this.writes += 1;
    const kind = this.writes - 1 === this.#fault?.at ? this.#fault.kind : undefined;
    if (kind === undefined || isAfter(kind) !== (when === 'after')) return;
    if (kind.startsWith('kill')) this.#isKilled = true;
    throw kind === 'conflict' ? apiError(409, 'Conflict') : apiError(500, 'InternalError');
  }
}

function isAfter(kind: WriteFault): boolean {
  return kind === 'lost response' || kind === 'kill after';
}
