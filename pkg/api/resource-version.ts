/**
 * Compares two resource versions: negative when `a` is older than `b`. Resource versions are decimal numbers that may
 * not fit into a `number`. So the longer one is newer, and equal lengths compare as text.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
