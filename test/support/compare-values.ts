export interface Difference {
  /** `spec.template.spec.containers[0].image`, `status.conditions[type=Ready].status`. */
  readonly path: string;
  /** Undefined: absent. */
  readonly a: unknown;
  readonly b: unknown;
}

/** The differences of two JSON values, leaf by leaf. Empty if they are equal, except for the order of the lists below. */
export function diffValues(a: unknown, b: unknown, path = ''): Difference[] {
  if (Object.is(a, b)) return [];
  if (Array.isArray(a) && Array.isArray(b)) return diffLists(a, b, path);
  if (!isFields(a) || !isFields(b)) return [{ path, a, b }];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.flatMap((name) => diffValues(a[name], b[name], joinPath(path, name)));
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joinPath(path: string, name: string): string {
  const step = /^[\w-]+$/.test(name) ? name : `[${name}]`;
  if (path === '') return step;
  return step.startsWith('[') ? path + step : `${path}.${step}`;
}

/** Lists without a defined order: their writers collect them from sets. */
const unordered: ReadonlySet<string> = new Set([
  'addresses',
  'conditions',
  'endpoints',
  'finalizers',
  'notReadyAddresses',
  'ownerReferences',
  'ports',
  'subsets',
]);

function diffLists(a: readonly unknown[], b: readonly unknown[], path: string): Difference[] {
  const field = /([\w-]+)$/.exec(path)?.[1] ?? '';
  if (!unordered.has(field)) return diffInOrder(a, b, path);
  const [byTypeA, byTypeB] = [keyedBy('type', a), keyedBy('type', b)];
  if (byTypeA !== undefined && byTypeB !== undefined) return diffValues(byTypeA, byTypeB, path);
  const rest = [...b];
  const onlyA = a.filter((value) => {
    const match = rest.findIndex((other) => diffValues(value, other).length === 0);
    if (match >= 0) rest.splice(match, 1);
    return match < 0;
  });
  return diffInOrder(sorted(onlyA), sorted(rest), path);
}

function diffInOrder(a: readonly unknown[], b: readonly unknown[], path: string): Difference[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) =>
    diffValues(a[index], b[index], `${path}[${index}]`),
  ).flat();
}

function sorted(values: readonly unknown[]): unknown[] {
  return [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** A list of named items, as an object with these names. Undefined if two items have the same name. */
function keyedBy(key: string, list: readonly unknown[]): Fields | undefined {
  const entries = list.map((item) => [`${key}=${isFields(item) ? String(item[key]) : ''}`, item] as const);
  const isKeyed = list.every((item) => isFields(item) && typeof item[key] === 'string');
  return isKeyed && new Set(entries.map(([name]) => name)).size === list.length
    ? Object.fromEntries(entries)
    : undefined;
}
