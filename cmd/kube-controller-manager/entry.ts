import { controllers } from '../../controllers/registry.ts';
import { stopOnSignals } from '../../pkg/manager/index.ts';
import { runProgram } from './program.ts';

/** Connects the program to its process: arguments, environment, signals and exit code. */
export function main(): void {
  const { signal } = stopOnSignals();
  const host = {
    controllers,
    environment: process.env,
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  };
  // Exit explicitly: a handle that is still open must not keep the process alive after an orderly shutdown.
  void runProgram(process.argv.slice(2), host, signal).then((exitCode) => process.exit(exitCode));
}
