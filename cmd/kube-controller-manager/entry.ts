import { controllers } from '../../controllers/registry.ts';
import { exitCodes } from './exit-codes.ts';
import { runProgram } from './program.ts';

/** The program as a process: its arguments, its environment, its signals and its end. */
export function main(): void {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCodes.interrupted);
      stop.abort(new Error(`received ${signal}`));
    });
  }
  const host = {
    controllers,
    environment: process.env,
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  };
  // Not left to the event loop: whatever might still hold it must not keep an orderly end from being one.
  void runProgram(process.argv.slice(2), host, stop.signal).then((exitCode) => process.exit(exitCode));
}
