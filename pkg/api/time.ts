/** `metav1.Time` on the wire: whole seconds, UTC. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `metav1.MicroTime` on the wire: microseconds. JavaScript clocks give milliseconds. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

/** Go's zero time, 1 January of year 1. The Go binary calculates with it where a time is absent. */
export const zeroTimeMs = Date.parse('0001-01-01T00:00:00Z');

/**
 * Milliseconds since 1970, or undefined for an absent time. The API writes a zero time as `null`, and an annotation may
 * hold any text. Both count as absent, so that no rule computes with NaN.
 */
export function parseTime(time: string | null | undefined): number | undefined {
  if (time === undefined || time === null) return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whether the object is terminating: deleted, but kept for its finalizers or its grace period. */
export function isBeingDeleted(metadata: { readonly deletionTimestamp?: string | null | undefined }): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}
