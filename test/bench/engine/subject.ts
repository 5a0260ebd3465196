import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

import { heapFlags } from '../../../scripts/executable.ts';

const ours = join(import.meta.dirname, '../engine-ours.ts');

export const subjectNames = ['ours', 'client-go, protobuf', 'client-go, JSON'] as const;
export type SubjectName = (typeof subjectNames)[number];

export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly rssMegabytes: number;
  readonly peakRssMegabytes: number;
}

/** One of the compared programs, as a process. Its CPU and memory are read from outside, in the same way for all. */
export class Subject implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  private constructor(program: string, args: readonly string[]) {
    this.#process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    if (this.#process.stdout === null) throw new Error('no stdout');
    this.#reader = createInterface({ input: this.#process.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  static async startInformer(name: SubjectName, goProgram: string, kubeconfig: string): Promise<Subject> {
    const subject =
      name === 'ours'
        ? new Subject(process.execPath, ['--expose-gc', ...heapFlags, ours, 'informer', kubeconfig])
        : new Subject(goProgram, ['informer', kubeconfig, name === 'client-go, JSON' ? 'json' : 'protobuf']);
    await subject.answer();
    return subject;
  }

  static startQueue(name: 'ours' | 'client-go', goProgram: string, keys: number): Subject {
    return name === 'ours'
      ? new Subject(process.execPath, [...heapFlags, ours, 'queue', String(keys)])
      : new Subject(goProgram, ['queue', String(keys)]);
  }

  tell(command: string): void {
    this.#process.stdin?.write(`${command}\n`);
  }

  async ask(command: string): Promise<Readonly<Record<string, number>>> {
    this.tell(command);
    return this.answer();
  }

  async answer(): Promise<Readonly<Record<string, number>>> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the program has ended');
    return JSON.parse(value) as Record<string, number>;
  }

  /** All results until the program ends. */
  async *answers(): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next()) {
      yield JSON.parse(next.value) as Record<string, unknown>;
    }
  }

  usage(): ProcessUsage {
    const { pid } = this.#process;
    const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
    const megabytes = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the program's name may hold blanks
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { cpuSeconds: ticks / 100, rssMegabytes: megabytes('VmRSS'), peakRssMegabytes: megabytes('VmHWM') };
  }

  /** Both programs end with their input. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'close');
    this.#process.stdin?.end();
    this.#reader.close();
    if (this.#process.exitCode === null) await ended;
  }
}
