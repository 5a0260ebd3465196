/**
 * A preload (`node --expose-gc --import`): on SIGUSR2 the process collects garbage, inspects every Map and Set on its
 * heap, including private ones, and writes a `SizeReport` to the file named by `SIZE_REPORT`. It reports keys that
 * contain `SIZE_MARKER`: the name of an object that should no longer be kept.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

import type { SizeReport } from './size-report.ts';

const { SIZE_REPORT: file = '', SIZE_MARKER: marker = '' } = process.env;

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const report: SizeReport = {
    heapBytes: process.memoryUsage().heapUsed,
    resources: countBy(process.getActiveResourcesInfo()),
    collections: collections(),
  };
  writeFileSync(`${file}.part`, JSON.stringify(report));
  renameSync(`${file}.part`, file);
});

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

interface CallAnswer {
  readonly result: { readonly value: SizeReport['collections'] };
  readonly exceptionDetails?: unknown;
}

function collections(): SizeReport['collections'] {
  const session = new Session();
  session.connect();
  try {
    return (['Map', 'Set'] as const).flatMap((name) => {
      const prototypeObjectId = evaluate(session, `${name}.prototype`);
      const objects = post<{ objects: { objectId: string } }>(session, 'Runtime.queryObjects', { prototypeObjectId });
      const { result, exceptionDetails } = post<CallAnswer>(session, 'Runtime.callFunctionOn', {
        objectId: objects.objects.objectId,
        functionDeclaration: describeAll.toString(),
        arguments: [{ value: marker }],
        returnByValue: true,
      });
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    });
  } finally {
    session.disconnect();
  }
}

/** Runs in the inspector: `this` is the list of what was found. */
function describeAll(this: (Map<unknown, unknown> | Set<unknown>)[], sought: string): SizeReport['collections'] {
  // The prototype of a class that extends Map is found too, but is not a Map.
  return this.filter((found) => found !== found.constructor.prototype).map((collection) => {
    const names = [...collection.keys()].filter((key) => typeof key === 'string');
    return {
      size: collection.size,
      sample: names.slice(0, 2),
      marked: names.filter((key) => key.includes(sought)),
    };
  });
}

function evaluate(session: Session, expression: string): string {
  return post<{ result: { objectId: string } }>(session, 'Runtime.evaluate', { expression }).result.objectId;
}

/** The response of a session to its own thread is available when `post` returns. */
function post<T>(session: Session, method: string, parameters: object): T {
  let answer: T | undefined;
  session.post(method, parameters, (error: Error | null, result?: object) => {
    if (error !== null) throw new Error(`${method}: ${JSON.stringify(error)}`);
    answer = result as T;
  });
  if (answer === undefined) throw new Error(`${method}: no answer`);
  return answer;
}
