import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerCommand {
  readonly name: string;
  /** Has the log, and the pid file by which the watchdog finds a server whose owner died. */
  readonly directory: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Polled until it returns true. Absent: a server is ready once started. */
  readonly isReady?: () => Promise<boolean>;
}

/**
 * A server that a test can stop, kill, pause and start again with the same command. All runs append their output to one
 * log file.
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

  /** Resolves when the current run has ended, for whatever reason. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** The log so far. */
  readLog(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Starts the server and waits until it is ready. Rejects with the end of its log if it exits before that. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`start ${this.name}: it is already running`);
    await this.#spawn();
    while (!((await this.#command.isReady?.()) ?? true)) {
      if (!this.isRunning) throw new ServerExitedError(this.name, this.readLog());
      await sleep(50);
    }
  }

  /** Sends SIGTERM and waits until the server has exited. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Sends SIGKILL, as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Pauses the server: connections stay open without responses. */
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
    if (signal !== 'SIGKILL') this.#child.kill('SIGCONT'); // a paused process does not handle the signal
    await this.#exited;
  }

  async #spawn(): Promise<void> {
    const { program, args, env } = this.#command;
    const log = openSync(this.logFile, 'a');
    // In a session of its own, so that Ctrl-C reaches only the test run, which then stops its servers in order.
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
  override readonly name = 'ServerExitedError';
  readonly reason = 'ServerExited';
  readonly isPortTaken: boolean;

  constructor(name: string, log: string) {
    super(`${name} exited before it was ready; its log ends with:\n${log.split('\n').slice(-25).join('\n')}`);
    this.isPortTaken = log.includes('address already in use');
  }
}
