import { isEqualJson, type ObjectMeta } from '../../api/index.ts';
import type { Fields } from '../schema/index.ts';
import {
  describePath,
  fieldsOf,
  filterPaths,
  fromFieldsV1,
  hasBelow,
  intersect,
  mapsOf,
  subtract,
  toFieldsV1,
  union,
  type FieldSet,
  type Path,
} from './field-set.ts';
import { mergeApplied, valueAt, without } from './merge.ts';
import type { Shape } from './shape.ts';

export type ManagedFields = NonNullable<ObjectMeta['managedFields']>;

/** The writer of a request, and its operation. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  readonly time: string;
}

interface Owner extends Writer {
  readonly fields: FieldSet;
}

export interface Conflict {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly field: string;
}

export type Applied =
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'merged'; readonly object: Fields; readonly managedFields: ManagedFields };

export interface ApplyInput {
  /** Undefined: the object does not exist yet. */
  readonly live: Fields | undefined;
  readonly managedFields: ManagedFields;
  readonly applied: Fields;
  readonly shape: Shape;
  readonly writer: Writer;
  readonly force: boolean;
}

/**
 * Server-side apply: merges the applied configuration into the stored object, removes the fields that the same manager
 * applied before and no longer does, and updates the owners. A field that another manager owns with another value is a
 * conflict, unless the apply is forced.
 */
export function applyFields(input: ApplyInput): Applied {
  const { live = {}, applied, shape, writer, force } = input;
  const owners = readOwners(input);
  const ours = filterPaths(fieldsOf(applied, shape), (path) => isOwnable(path, writer.subresource));
  const previous = owners.find((owner) => isSameWriter(owner, writer))?.fields ?? new Map<string, Path>();
  const others = owners.filter((owner) => !isSameWriter(owner, writer));
  const differs = (path: Path): boolean =>
    !hasBelow(ours, path) && !isEqualJson(valueAt(live, path, shape), valueAt(applied, path, shape));
  const contested = filterPaths(ours, differs);
  const conflicts = others.flatMap(({ manager, operation, apiVersion, fields }) =>
    [...intersect(fields, contested).values()].map((path) => ({
      manager,
      operation,
      apiVersion,
      field: describePath(path),
    })),
  );
  if (conflicts.length > 0 && !force) return { kind: 'conflict', conflicts };
  const remaining = others.map((owner) => ({ ...owner, fields: subtract(owner.fields, contested) }));
  const owned = remaining.reduce<FieldSet>((all, { fields }) => union(all, fields), ours);
  let object = mergeApplied(live, applied, shape) as Fields; // of two objects
  // Outer paths first: an item is removed as a whole, unless another manager owns a part of it.
  for (const path of [...subtract(previous, owned).values()].toSorted((a, b) => a.length - b.length)) {
    const stays = hasBelow(owned, path) || isKeyOfItem(path);
    if (!stays) object = without(object, path, shape) as Fields; // never of the whole
  }
  return {
    kind: 'merged',
    object,
    managedFields: writeOwners([...remaining, { ...writer, fields: ours }], input.managedFields),
  };
}

/** An item without its key field would not be an item: the key is removed with the item. */
function isKeyOfItem(path: Path): boolean {
  const [item, field] = path.slice(-2);
  if (item === undefined || field === undefined || !item.startsWith('k:')) return false;
  return Object.hasOwn(JSON.parse(item.slice(2)) as object, field.slice(2)); // as `stepOf` wrote it
}

/** The owners after a write other than apply: the writer owns each field that it changes. */
export function trackUpdate(input: {
  readonly before: Fields;
  readonly after: Fields;
  readonly managedFields: ManagedFields;
  readonly shape: Shape;
  readonly writer: Writer;
}): ManagedFields {
  const { before, after, shape, writer } = input;
  const ownable = (set: FieldSet): FieldSet => filterPaths(set, (path) => isOwnable(path, writer.subresource));
  const [had, has] = [ownable(fieldsOf(before, shape)), ownable(fieldsOf(after, shape))];
  const [hadMaps, hasMaps] = [ownable(mapsOf(before, shape)), ownable(mapsOf(after, shape))];
  const gone = union(subtract(had, has), subtract(hadMaps, hasMaps));
  const differs = (path: Path): boolean =>
    !hasBelow(has, path) && !isEqualJson(valueAt(before, path, shape), valueAt(after, path, shape));
  const changed = union(filterPaths(has, differs), subtract(hasMaps, hadMaps));
  if (gone.size === 0 && changed.size === 0) return input.managedFields;
  const lost = union(gone, changed);
  const owners = parseOwners(input.managedFields);
  const previous = owners.find((owner) => isSameWriter(owner, writer));
  const others = owners
    .filter((owner) => owner !== previous)
    .map((owner) => ({ ...owner, fields: subtract(owner.fields, lost) }));
  const fields = union(subtract(previous?.fields ?? new Map<string, Path>(), gone), changed);
  return writeOwners([...others, { ...writer, fields }], input.managedFields);
}

/** An object that was never applied belongs to its last writer, as it is. */
function readOwners({ live, managedFields, shape, writer }: ApplyInput): Owner[] {
  const known = parseOwners(managedFields);
  if (known.length > 0 || live === undefined) return known;
  const fields = filterPaths(fieldsOf(live, shape), (path) => isOwnable(path, writer.subresource));
  return [{ ...writer, manager: 'before-first-apply', operation: 'Update', fields }];
}

function parseOwners(managedFields: ManagedFields): Owner[] {
  return managedFields.map(({ manager = '', operation, apiVersion = '', subresource, time, fieldsV1 }) => ({
    manager,
    operation: operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion,
    subresource,
    time: time ?? '',
    fields: fromFieldsV1(fieldsV1),
  }));
}

/** In the order of kube-apiserver: applies first, then by time. An entry that has not changed keeps its time. */
function writeOwners(owners: readonly Owner[], before: ManagedFields): ManagedFields {
  return owners
    .filter(({ fields }) => fields.size > 0)
    .map(({ fields, subresource, ...owner }) => {
      const entry = {
        ...owner,
        ...(subresource !== undefined && { subresource }),
        fieldsType: 'FieldsV1',
        fieldsV1: toFieldsV1(fields),
      };
      return before.find((each) => isEqualJson({ ...each, time: '' }, { ...entry, time: '' })) ?? entry;
    })
    .toSorted((a, b) => {
      if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1;
      return (a.time ?? '') < (b.time ?? '') ? -1 : 1;
    });
}

function isSameWriter(a: Writer, b: Writer): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    (a.subresource ?? '') === (b.subresource ?? '')
  );
}

const serverOwned = new Set(
  ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'generation', 'generateName', 'managedFields']
    .concat(['selfLink', 'deletionTimestamp', 'deletionGracePeriodSeconds'])
    .map((name) => `f:${name}`),
);

/** Fields that identify the object have no owner. The status belongs to its writers. */
function isOwnable([first = '', second = '']: Path, subresource: string | undefined): boolean {
  if (first === 'f:apiVersion' || first === 'f:kind') return false;
  if (first === 'f:metadata') return second !== '' && !serverOwned.has(second);
  return subresource === 'status' ? first === 'f:status' : first !== 'f:status';
}
