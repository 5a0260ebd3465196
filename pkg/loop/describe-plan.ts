/**
 * A plan in words. Plans are data of many shapes, so this goes by their common form: actions that are told apart by `kind`,
 * objects with metadata, keys, counts, events. Only names, numbers, truth values and a few fields are told: a plan may hold
 * the content of a Secret.
 */
const toldStrings: ReadonlySet<string> = new Set([
  'deletionPolicy',
  'key',
  'message',
  'name',
  'namespace',
  'nodeName',
  'phase',
  'policy',
  'reason',
  'status',
  'type',
]);

/** More would tell nobody anything: a plan of a thousand pods has a thousand names. */
const mostLines = 20;
const mostDetails = 6;
const deepest = 3;
/** The contents of Secrets and ConfigMaps, tokens; and what tells people nothing. */
const neverTold = /^(?:data|stringData|binaryData|kind)$|(?:uid|token)s?$/i;

type Fields = Readonly<Record<string, unknown>>;

/** `counted`: the kind of the objects that the plan counts. */
export function describePlan(plan: unknown, counted = ''): readonly string[] {
  const lines = [...describe(plan, counted)];
  return lines.length > mostLines ? [...lines.slice(0, mostLines), `… and ${lines.length - mostLines} more`] : lines;
}

function* describe(plan: unknown, counted: string): Generator<string> {
  if (Array.isArray(plan)) {
    for (const each of plan) yield* describe(each, counted);
    return;
  }
  if (!isFields(plan)) {
    if (typeof plan === 'string' && plan !== '') yield plan;
    return;
  }
  const { actions, kind } = plan;
  if (Array.isArray(actions)) {
    yield* describe(actions, counted);
    return;
  }
  if (kind === 'none') return;
  if (typeof kind === 'string' && !isObject(plan)) {
    const { count, ...others } = plan;
    const number = typeof count === 'number' ? [`${count} × ${counted}`.replace(/ × $/, '')] : [];
    yield [toWords(kind), ...number, ...detailsOf(others)].join(' ');
    return;
  }
  yield* describeMembers(plan);
}

/** A plan without actions: a field for each thing to be done. */
function* describeMembers(plan: Fields): Generator<string> {
  for (const [name, value] of Object.entries(plan)) {
    if (neverTold.test(name)) continue;
    if (Array.isArray(value)) {
      if (value.length > 0) yield `${toWords(name)}: ${describeList(value)}`;
    } else if (value instanceof Map || value instanceof Set) {
      if (value.size > 0) yield `${toWords(name)}: ${describeList([...value.keys()])}`;
    } else if (isFields(value)) {
      const details = isObject(value) ? [nameOf(value)] : detailsOf(value);
      if (details.length > 0) yield `${toWords(name)}: ${details.join(' ')}`;
    } else if (typeof value === 'number' || typeof value === 'boolean') {
      yield `${toWords(name)}: ${value}`;
    } else if (typeof value === 'string' && toldStrings.has(name)) {
      yield `${toWords(name)}: ${value}`;
    }
  }
}

function describeList(values: readonly unknown[]): string {
  const names = values
    .slice(0, mostDetails)
    .map((value) => (isFields(value) ? nameOf(value) : typeof value === 'string' ? value : ''))
    .filter((name) => name !== '');
  const rest = values.length - names.length;
  if (names.length === 0) return String(values.length);
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ');
}

function detailsOf(fields: Fields, depth = 0): string[] {
  const details: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (neverTold.test(name) || details.length >= mostDetails) continue;
    if (isFields(value) && isObject(value)) details.push(...objectDetails(value));
    else if (Array.isArray(value)) {
      if (value.length > 0) details.push(`${toWords(name)} ${describeList(value)}`);
    } else if (isFields(value)) {
      if (depth < deepest) details.push(...detailsOf(value, depth + 1));
    } else if (typeof value === 'number' || typeof value === 'boolean') details.push(`${toWords(name)} ${value}`);
    else if (typeof value === 'string' && toldStrings.has(name)) details.push(name === 'key' ? value : `"${value}"`);
  }
  return details.slice(0, mostDetails);
}

/** The name of an object, and its size and phase if it has them: what a write most often changes. */
function objectDetails(object: Fields): string[] {
  const { spec, status } = object;
  const details = [nameOf(object)];
  if (isFields(spec) && typeof spec['replicas'] === 'number') details.push(`replicas ${spec['replicas']}`);
  if (isFields(status) && typeof status['phase'] === 'string') details.push(`phase ${status['phase']}`);
  return details.filter((detail) => detail !== '');
}

function nameOf(object: Fields): string {
  const { metadata, name, key } = object;
  if (isFields(metadata)) {
    const own = metadata['name'] ?? metadata['generateName'];
    return typeof own === 'string' ? own : '';
  }
  if (typeof name === 'string') return name;
  return typeof key === 'string' ? key : '';
}

function isObject(value: Fields): boolean {
  return isFields(value['metadata']);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `createReplicaSet` → `create replica set` */
function toWords(name: string): string {
  return name.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
}
