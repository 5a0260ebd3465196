/** Durations, counts and times as text. */

export function formatDuration(ms: number): string {
  if (ms < 10) return `${Math.max(0, ms).toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return formatSeconds(Math.round(ms / 1000));
}

/** For times until and since something: they change every second, and milliseconds would only flicker. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join([minutes, 'min'], [Math.floor(seconds % 60), 's']);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return join([hours, 'h'], [minutes % 60, 'min']);
  return join([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

function join(large: readonly [number, string], small: readonly [number, string]): string {
  return small[0] === 0 ? large.join(' ') : `${large.join(' ')} ${small.join(' ')}`;
}

export function formatAgo(ms: number): string {
  return ms < 1000 ? 'just now' : `${formatSeconds(ms / 1000)} ago`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

export function formatTime(epochMs: number): string {
  return new Date(epochMs).toLocaleTimeString('en-GB');
}

/** `1 pod`, `3 pods` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A sentence of the cluster may end with a full stop or not. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
