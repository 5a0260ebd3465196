/** `metav1.Time` on the wire: whole seconds, UTC. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `metav1.MicroTime` on the wire: six digits of a second. JavaScript clocks give three. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

/** Milliseconds since 1970; NaN for what is no time. */
export function parseTime(time: string): number {
  return Date.parse(time);
}
