import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerCommand {
  readonly name: string;
  /** Holds the log, and the pid file by which the watchdog finds a server whose owner died. */
  readonly directory: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Asked again and again until it answers true; absent: a server counts as ready once started. */
  readonly isReady?: () => Promise<boolean>;
}

/**
 * A server that a test may stop, kill, pause and start again with the same command. Its output goes to one log file,
 * appended to by every run.
 */
export class ServerProcess {
  readonly name: string;
  readonly logFile: string;
  readonly #command: ServerCommand;
  readonly #pidFile: string;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(command: ServerCommand) {
    this.#command = command;
    this.name = command.name;
    this.logFile = join(command.directory, `${command.name}.log`);
    this.#pidFile = join(command.directory, `${command.name}.pid`);
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the present run has ended, however that came about. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** Everything logged so far. */
  readLog(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Starts the server and waits until it is ready; rejects with the end of its log when it exits before that. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`start ${this.name}: it is already running`);
    await this.#spawn();
    while (!((await this.#command.isReady?.()) ?? true)) {
      if (!this.isRunning) throw new ServerExitedError(this.name, this.readLog());
      await sleep(50);
    }
  }

  /** Asks the server to end (SIGTERM) and waits until it has. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Ends the server at once (SIGKILL), as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Freezes the server: connections stay open and nothing answers. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child === undefined) throw new Error(`send ${signal} to ${this.name}: it is not running`);
    this.#child.kill(signal);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child === undefined) return;
    this.#child.kill(signal);
    if (signal !== 'SIGKILL') this.#child.kill('SIGCONT'); // a paused server would never see the request
    await this.#exited;
  }

  async #spawn(): Promise<void> {
    const { program, args, env } = this.#command;
    const log = openSync(this.logFile, 'a');
    // In a session of its own, so that Ctrl-C reaches the test run alone, which then ends its servers in order.
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
    this.#child = child;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    this.#exited = ended.then(() => {
      this.#child = undefined;
      rmSync(this.#pidFile, { force: true });
    });
    if (child.pid !== undefined) writeFileSync(this.#pidFile, String(child.pid));
    await once(child, 'spawn');
  }
}

export class ServerExitedError extends Error {
  readonly isPortTaken: boolean;

  constructor(name: string, log: string) {
    super(`${name} exited before it was ready; its log ends with:\n${log.split('\n').slice(-25).join('\n')}`);
    this.name = 'ServerExitedError';
    this.isPortTaken = log.includes('address already in use');
  }
}
