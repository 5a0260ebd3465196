import type { ChildProcess } from 'node:child_process';

import { startManager } from '../manager.ts';
import type { ClusterAccess } from '../../cluster/index.ts';

export interface RestartingManagerOptions {
  /** The cluster, as the manager reaches it. */
  readonly cluster: ClusterAccess;
  readonly program: string;
  readonly flags: readonly string[];
}

/** Our manager, restarted whenever it was killed, as a kubelet would. */
export class RestartingManager implements AsyncDisposable {
  readonly #options: RestartingManagerOptions;
  readonly #broken = new AbortController();
  #child: ChildProcess | undefined;
  #isMeantToEnd = false;
  #isStopped = true;
  #up = Promise.withResolvers<void>();
  #loop: Promise<void> = Promise.resolve();
  #logs = '';

  constructor(options: RestartingManagerOptions) {
    this.#options = options;
  }

  /** Aborts if it ends without being killed. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** The log of all starts. */
  get logs(): string {
    return this.#logs;
  }

  /** Resolves when it is running. */
  async start(): Promise<void> {
    if (this.#isStopped) {
      this.#isStopped = false;
      this.#up = Promise.withResolvers();
      this.#up.promise.catch(() => undefined); // `broken` reports it too
      this.#loop = this.#keepRunning();
    }
    await this.#up.promise;
  }

  /** Kills it; it is restarted automatically. */
  readonly kill = (): void => {
    this.#isMeantToEnd = true;
    this.#child?.kill('SIGKILL');
  };

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.kill();
    await this.#loop;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #keepRunning(): Promise<void> {
    try {
      while (!this.#isStopped) await this.#runOnce();
    } catch (error) {
      this.#isStopped = true;
      this.#broken.abort(error);
      this.#up.reject(error);
    }
  }

  async #runOnce(): Promise<void> {
    const { cluster, program, flags } = this.#options;
    this.#isMeantToEnd = false;
    const onSpawn = (child: ChildProcess): void => {
      this.#child = child;
      if (this.#isStopped) child.kill('SIGKILL');
    };
    try {
      await using manager = await startManager(cluster, flags, { program, onSpawn });
      this.#up.resolve();
      const exitCode = await manager.exited;
      this.#logs += manager.logs();
      if (!this.#isMeantToEnd) throw new Error(`it ended by itself, with ${String(exitCode)}: ${manager.logs()}`);
    } catch (error) {
      if (!this.#isMeantToEnd) throw error; // a process that is killed before it is ready ends with an error
    }
  }
}
