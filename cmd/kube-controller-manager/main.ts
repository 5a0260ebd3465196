import { controllers } from '../../controllers/registry.ts';
import { exitCodes } from './exit-codes.ts';
import { runProgram } from './program.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort(new Error(`received ${signal}`));
  });
}

const exitCode = await runProgram(
  process.argv.slice(2),
  {
    controllers,
    environment: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
  },
  stop.signal,
);
// Not left to the event loop: whatever might still hold it must not keep an orderly end from being one.
process.exit(exitCode);
