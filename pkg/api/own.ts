/**
 * The value under a name that comes from the cluster, such as the key of a label. Plain indexing would also find
 * inherited properties: a label may be called `constructor`.
 */
export function ownValue<T>(map: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return map !== null && map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Sets a field of any name. A key of a ConfigMap may be `__proto__`: plain assignment would set no field. */
export function setOwn<T>(map: Record<string, T>, name: string, value: NoInfer<T>): void {
  if (name === '__proto__') {
    Object.defineProperty(map, name, { value, writable: true, enumerable: true, configurable: true });
  } else map[name] = value;
}
