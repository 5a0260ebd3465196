/**
 * The program as it ships: a picture of the process's memory in which everything is loaded and compiled already, taken
 * when it is built. A start goes on from there: `scripts/executable.ts` says what that gains.
 */
import { setFlagsFromString, startupSnapshot } from 'node:v8';

// Node would load these at every start, for servers and HTTP/2.
import 'node:assert';
import 'node:cluster';
import 'node:dns';

import { main } from './entry.ts';

/**
 * A start, and the first large Deployment after it, are mostly code that runs a few times and is not worth optimizing. So
 * the executable starts with TurboFan off and Maglev reluctant. Once the process has used this much CPU time, it has work
 * for longer, and gets V8's defaults. An idle process gets them after some minutes.
 */
const optimizeAfterCpuMs = 1500;
const checkIntervalMs = 1000;
const defaultFlags = ['--turbofan', '--invocation-count-for-maglev=400'];

function optimizeLater(): void {
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 < optimizeAfterCpuMs) return;
    clearInterval(timer);
    for (const flag of defaultFlags) setFlagsFromString(flag);
  }, checkIntervalMs);
  timer.unref();
}

startupSnapshot.setDeserializeMainFunction(() => {
  optimizeLater();
  main();
});
