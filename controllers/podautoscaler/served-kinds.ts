import type { Kind } from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import { preferredKinds } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

/** The Go binary discovers kinds again this often. */
const refreshMs = 30_000;

/** Finds kinds by group and name. Many autoscalers with a target that is not served cost one discovery in half a minute. */
export class ServedKinds {
  readonly #discovery: Discovery;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #refreshedMs = Number.NEGATIVE_INFINITY;
  #isSuspect = false;

  constructor(discovery: Discovery, clock: Pick<Clock, 'monotonic'>) {
    this.#discovery = discovery;
    this.#clock = clock;
  }

  /** The resources with this kind, each in its preferred version. Usually one. */
  async find(group: string, name: string, signal: AbortSignal): Promise<readonly Kind[]> {
    const isWanted = ({ group: listed, kind }: Kind): boolean => listed === group && kind === name;
    const known = await preferredKinds(this.#discovery, isWanted, signal);
    const isDue = this.#clock.monotonic() - this.#refreshedMs >= refreshMs;
    if ((known.length > 0 && !this.#isSuspect) || !isDue) return known;
    this.#refreshedMs = this.#clock.monotonic();
    this.#isSuspect = false;
    await this.#discovery.refresh(signal);
    return preferredKinds(this.#discovery, isWanted, signal);
  }

  /** A kind that was found did not work: discover kinds again when that is due. */
  suspect(): void {
    this.#isSuspect = true;
  }
}
