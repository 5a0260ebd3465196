/** A key as text. Most are `namespace/name`; those of a few controllers have more parts. */
export function keyText(key: unknown): string {
  return typeof key === 'string' ? key : JSON.stringify(key);
}
