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
 * A start is over by then. Almost all of it is code that runs a few times, and is not worth optimizing: the executable
 * starts with TurboFan off and Maglev reluctant.
 */
const startMs = 2000;
const defaultFlags = ['--turbofan', '--invocation-count-for-maglev=400'];

startupSnapshot.setDeserializeMainFunction(() => {
  setTimeout(() => defaultFlags.forEach((flag) => setFlagsFromString(flag)), startMs).unref();
  main();
});
