import { pino } from 'pino';

/** Where lines go. They are written in order; `flush` returns when all of them are. */
export interface LogStream {
  write(line: string): void;
  flush(): void;
}

/** Beyond this much, a turn's lines are not kept until its end. */
const BUFFER_BYTES = 8 * 1024;

/**
 * Writes to a file descriptor, synchronously, once per turn of the event loop: a burst of lines costs one system call,
 * and no line is held back longer than the work that wrote it. What is buffered when the process exits is written then.
 */
export function openLogStream(fd: number): LogStream {
  const file = pino.destination({ fd, sync: true, minLength: BUFFER_BYTES });
  let pending = false;
  const flush = (): void => {
    pending = false;
    file.flushSync();
  };
  process.on('exit', flush);
  return {
    write(line) {
      file.write(line);
      if (pending) return;
      pending = true;
      setImmediate(flush);
    },
    flush,
  };
}
