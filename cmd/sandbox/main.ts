import { AbortedError } from '../../pkg/time/index.ts';
import { runSandboxProgram } from './program.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130); // a second signal skips the shutdown
    stop.abort(new AbortedError(`received ${signal}`));
  });
}

const exitCode = await runSandboxProgram(
  process.argv.slice(2),
  {
    environment: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY,
  },
  stop.signal,
);
process.exit(exitCode);
