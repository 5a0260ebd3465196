import { Session } from 'node:inspector/promises';
import type { Readable } from 'node:stream';
import { getHeapSnapshot } from 'node:v8';
import type { Clock } from '../time/index.ts';
import { textAnswer } from './responses.ts';
import type { Answer } from './responses.ts';

/** A body too large to hold in memory. */
export interface StreamAnswer extends Omit<Answer, 'body'> {
  readonly stream: Readable;
}

export const profilingIndex: Answer = {
  code: 200,
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: `<html>
<head><title>/debug/pprof/</title></head>
<body>
<p><a href="heap">heap</a>: a snapshot of every object on the heap, in V8's format (.heapsnapshot). Taking it stops
the process for as long as it takes: about a second per 100 MB.</p>
<p><a href="profile?seconds=30">profile</a>: where processor time goes for so many seconds, in V8's format
(.cpuprofile).</p>
<p>Both open in the developer tools of Chrome and in VS Code.</p>
</body>
</html>
`,
};

const defaultSeconds = 30;
const maxSeconds = 3600;

/** Reads `?seconds=`; anything that is no sensible number means the default. */
export function profileSeconds(text: string | null): number {
  const seconds = Number(text ?? '');
  return Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, maxSeconds) : defaultSeconds;
}

export interface Profiler {
  heapSnapshot(): StreamAnswer;
  /** Rejects when the signal aborts; nothing is recorded any longer then. */
  cpuProfile(seconds: number, signal: AbortSignal): Promise<Answer>;
}

export function createProfiler(clock: Clock): Profiler {
  let isRecording = false;

  async function record(seconds: number, signal: AbortSignal): Promise<Answer> {
    const session = new Session();
    session.connect();
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await clock.sleep(seconds * 1000, signal);
      const { profile } = await session.post('Profiler.stop');
      return { code: 200, headers: attachment('profile.cpuprofile'), body: JSON.stringify(profile) };
    } finally {
      session.disconnect();
    }
  }

  return {
    heapSnapshot: () => ({ code: 200, headers: attachment('heap.heapsnapshot'), stream: getHeapSnapshot() }),
    async cpuProfile(seconds, signal) {
      if (isRecording) return textAnswer(500, 'Could not enable CPU profiling: cpu profiling already in use\n');
      isRecording = true;
      try {
        return await record(seconds, signal);
      } finally {
        isRecording = false;
      }
    },
  };
}

function attachment(filename: string): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/json',
    'Content-Disposition': `attachment; filename="${filename}"`,
    'X-Content-Type-Options': 'nosniff',
  };
}
