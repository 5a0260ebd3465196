import { copyOf } from '../api/index.ts';
import type { Patch } from '../client/index.ts';

type Fields = Record<string, unknown>;

/** The object after the patch. Server-side apply is treated as a merge: cluster tests cover field ownership. */
export function applyPatch(object: object, patch: Patch): object {
  const target = copyOf<Fields>({ ...object });
  switch (patch.type) {
    case 'json':
      for (const operation of asOperations(patch.body)) applyOperation(target, operation);
      return target;
    case 'strategic':
      return mergeObject(target, asFields(patch.body), mergeListByKey);
    case 'merge':
    case 'apply':
      return mergeObject(target, asFields(patch.body), (_field, _list, given) => given);
  }
}

const fromList = /^\$deleteFromPrimitiveList\//;

type MergeList = (field: string, list: readonly unknown[], given: readonly unknown[]) => readonly unknown[];

function mergeObject(target: Fields, patch: Fields, mergeList: MergeList): Fields {
  for (const [field, value] of Object.entries(patch)) {
    const existing = target[field.replace(fromList, '')];
    if (fromList.test(field) && Array.isArray(value) && Array.isArray(existing)) {
      target[field.replace(fromList, '')] = existing.filter((item) => !value.includes(item));
    }
    if (field.startsWith('$')) continue; // other directives apply to the list that contains them
    if (value === null) delete target[field];
    else if (Array.isArray(value)) target[field] = mergeList(field, Array.isArray(existing) ? existing : [], value);
    else if (isFields(value)) target[field] = mergeObject(isFields(existing) ? existing : {}, value, mergeList);
    else target[field] = value;
  }
  return target;
}

/** The lists that controllers patch and the API server merges in a strategic patch. Other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  conditions: 'type',
  containers: 'name',
  env: 'name',
  initContainers: 'name',
  ownerReferences: 'uid',
  volumes: 'name',
};

function mergeListByKey(field: string, list: readonly unknown[], given: readonly unknown[]): readonly unknown[] {
  if (field === 'finalizers') return [...new Set([...list, ...given])];
  const mergeKey = mergeKeys[field];
  if (mergeKey === undefined) return given;
  const merged = list.filter(isFields);
  for (const item of given.filter(isFields)) {
    const index = merged.findIndex((known) => known[mergeKey] === item[mergeKey]);
    if (item['$patch'] === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else {
      const result = mergeObject(merged[index] ?? {}, item, mergeListByKey);
      merged.splice(index < 0 ? merged.length : index, 1, result);
    }
  }
  return merged;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

function applyOperation(target: Fields, { op, path, value }: Operation): void {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  const parent = steps.reduce<unknown>(
    (at, step) => (isFields(at) || Array.isArray(at) ? childOf(at, step) : at),
    target,
  );
  if (!isFields(parent) && !Array.isArray(parent)) throw new Error(`json patch: nothing at ${path}`);
  const exists = childOf(parent, last) !== undefined;
  if (op === 'test') {
    if (JSON.stringify(childOf(parent, last)) !== JSON.stringify(value)) throw new Error(`json patch: ${path} differs`);
  } else if ((op === 'remove' || op === 'replace') && !exists) {
    throw new Error(`json patch: nothing at ${path}`);
  } else if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last);
    parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  } else if (op === 'remove') {
    delete parent[last];
  } else {
    parent[last] = value;
  }
}

function childOf(at: Fields | unknown[], step: string): unknown {
  return Array.isArray(at) ? at[Number(step)] : at[step];
}

function asOperations(body: unknown): readonly Operation[] {
  if (!Array.isArray(body)) throw new Error('json patch: the body must be a list of operations');
  return body as readonly Operation[];
}

function asFields(body: unknown): Fields {
  if (!isFields(body)) throw new Error('patch: the body must be an object');
  return body;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
