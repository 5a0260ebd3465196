import type { LogBackend } from './json-logger.ts';
import { verbosityOf } from './levels.ts';
import type { Logger } from './logger.ts';
import { scrubFields } from './scrub.ts';

/**
 * Writes lines like klog: `I0102 15:04:05.000000    4321 source] "message" key="value"`. The name of the program replaces
 * file and line: a stack trace takes 7 µs, the whole line without it 0.8 µs.
 */
export function createTextLogger(backend: LogBackend, source: string): Logger {
  return new TextLogger({ ...backend, header: headerFormatter(source) }, '');
}

interface TextBackend extends LogBackend {
  readonly header: (nowMs: number) => string;
}

class TextLogger implements Logger {
  readonly #backend: TextBackend;
  /** The formatted fields of this logger and its parents. */
  readonly #bound: string;

  constructor(backend: TextBackend, bound: string) {
    this.#backend = backend;
    this.#bound = bound;
  }

  error(fields: object, message: string): void {
    this.#backend.error.write(this.#format('E', fields, message));
  }

  warn(fields: object, message: string): void {
    this.#backend.info.write(this.#format('W', fields, message));
  }

  info(fields: object, message: string): void {
    this.#backend.info.write(this.#format('I', fields, message));
  }

  verbose(fields: object, message: string): void {
    if (this.#backend.verbosity() < verbosityOf.verbose) return;
    this.#backend.info.write(this.#format('I', fields, message));
  }

  debug(fields: object, message: string): void {
    if (this.#backend.verbosity() < verbosityOf.debug) return;
    this.#backend.info.write(this.#format('I', fields, message));
  }

  trace(fields: object, message: string): void {
    if (this.#backend.verbosity() < verbosityOf.trace) return;
    this.#backend.info.write(this.#format('I', fields, message));
  }

  child(fields: object): Logger {
    return new TextLogger(this.#backend, this.#bound + this.#formatFields(fields));
  }

  #format(severity: 'E' | 'W' | 'I', fields: object, message: string): string {
    const { header, nowMs } = this.#backend;
    return `${severity}${header(nowMs())}${JSON.stringify(message)}${this.#bound}${this.#formatFields(fields)}\n`;
  }

  #formatFields(fields: object): string {
    const scrubbed = scrubFields(fields, { stacks: this.#backend.verbosity() >= verbosityOf.debug });
    let text = '';
    for (const [key, value] of Object.entries(scrubbed)) text += ` ${key}=${formatValue(value)}`;
    return text;
  }
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value.includes('\n') ? formatLines(value) : JSON.stringify(value);
  // Functions and symbols have no JSON form.
  return JSON.stringify(value) ?? String(value);
}

// Keeps stacks readable. The tab marks the lines as a continuation.
function formatLines(text: string): string {
  const lines = text.split('\n').map((line) => `\t${line}\n`);
  return `<\n${lines.join('')} >`;
}

/** Date, time, process and source. Date and time are formatted once per second. */
function headerFormatter(source: string): (nowMs: number) => string {
  const tail = `000 ${String(process.pid).padStart(7)} ${source}] `;
  let second = Number.NaN;
  let prefix = '';
  return (nowMs) => {
    const nowSecond = Math.floor(nowMs / 1000);
    if (nowSecond !== second) {
      second = nowSecond;
      prefix = formatSecond(new Date(nowSecond * 1000));
    }
    return `${prefix}.${String(Math.floor(nowMs) % 1000).padStart(3, '0')}${tail}`;
  };
}

function formatSecond(date: Date): string {
  const day = `${twoDigits(date.getMonth() + 1)}${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
