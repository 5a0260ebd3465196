import * as z from 'zod';

import type { Cached, ListMeta, ObjectKey, UntypedObject } from '../../api/index.ts';
import { badRequest, expired, Failure } from '../failure.ts';
import { storageId, type Resource } from '../registry/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../selectors/index.ts';
import { tooLargeVersion, type Entry } from '../storage/index.ts';
import { asVersion, type Api } from './api.ts';

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListRequest extends Selection {
  readonly limit: number;
  readonly continue?: string | undefined;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
}

export interface Page {
  readonly metadata: ListMeta;
  readonly entries: readonly Entry[];
}

/** Whether an object matches the selectors of a request. Throws 400 for selectors that are not valid. */
export function compileSelection(selection: Selection, resource: Resource): (object: Cached<UntypedObject>) => boolean {
  const { namespace, labelSelector, fieldSelector } = selection;
  const byLabels = parseLabelSelector(labelSelector);
  const byFields = parseFieldSelector(fieldSelector, resource);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    byLabels(object.metadata.labels) &&
    byFields(object);
}

/** One page of the selected objects, in the order of keys. */
export function listObjects(api: Api, resource: Resource, request: ListRequest): Page {
  const matches = compileSelection(request, resource);
  const { version, start } = planList(api, request);
  const storage = storageId(resource);
  const isPresent = version === undefined || version >= api.store.version;
  const entriesAt = isPresent ? undefined : knownEntries(api, storage, version, start);
  const keys = entriesAt === undefined ? api.store.keys(storage) : [...entriesAt.keys()].sort();
  const entries: Entry[] = [];
  let left = 0;
  let next: ObjectKey | undefined;
  for (const key of keysFrom(keys, start, request.namespace)) {
    const entry = entriesAt === undefined ? api.store.get(storage, key) : entriesAt.get(key);
    if (entry === undefined || !matches(entry.object)) continue;
    if (request.limit > 0 && entries.length === request.limit) {
      next ??= key;
      left++;
    } else entries.push(asVersion(entry, resource));
  }
  const listVersion = String(version === undefined || isPresent ? (version ?? api.store.version) : version);
  if (next === undefined) return { metadata: { resourceVersion: listVersion }, entries };
  const token = writeToken({ version: Number(listVersion), start: next });
  const isFiltered = (request.labelSelector ?? '') !== '' || (request.fieldSelector ?? '') !== '';
  const metadata = { resourceVersion: listVersion, continue: token, ...(!isFiltered && { remainingItemCount: left }) };
  return { metadata, entries };
}

interface ListPlan {
  /** Undefined: the current version. */
  readonly version: number | undefined;
  readonly start: ObjectKey | undefined;
}

function planList(api: Api, request: ListRequest): ListPlan {
  const { resourceVersion, resourceVersionMatch: match } = request;
  if (request.continue !== undefined && request.continue !== '') {
    if (match !== '') throw forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return readToken(request.continue);
  }
  if (match !== '' && resourceVersion === '') {
    throw forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalidMatch(`Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`);
  }
  const version = parseVersion(resourceVersion);
  if (version === undefined || version === 0) {
    if (match === 'Exact') throw forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    return { version: undefined, start: undefined };
  }
  if (version > api.store.version) throw tooLargeVersion(version, api.store.version);
  const isExact = match === 'Exact' || (match === '' && request.limit > 0);
  return { version: isExact ? version : undefined, start: undefined };
}

function forbiddenMatch(detail: string): Failure {
  return invalidMatch(`Forbidden: ${detail}`);
}

function invalidMatch(detail: string): Failure {
  return new Failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ${detail}`);
}

/** The resource version in a request; undefined if absent. Throws 400. */
export function parseVersion(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`Invalid value: ${JSON.stringify(text)}: must be a resource version`);
  return Number(text);
}

function knownEntries(
  api: Api,
  storage: string,
  version: number,
  start: ObjectKey | undefined,
): ReadonlyMap<ObjectKey, Entry> {
  try {
    return api.store.entriesAt(storage, version);
  } catch (error) {
    if (!(error instanceof Failure) || start === undefined) throw error;
    // The client may continue from here if it accepts pages of two points in time.
    const token = writeToken({ version: undefined, start });
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      token,
    );
  }
}

/** The keys of the namespace, from the end of the last page. */
function* keysFrom(
  keys: readonly ObjectKey[],
  start: ObjectKey | undefined,
  namespace: string | undefined,
): Generator<ObjectKey> {
  const prefix = namespace === undefined ? '' : `${namespace}/`;
  const first = start === undefined || start < prefix ? prefix : start;
  for (let index = lowerBound(keys, first); index < keys.length; index++) {
    const key = keys[index];
    if (key === undefined || !key.startsWith(prefix)) return;
    yield key;
  }
}

function lowerBound(keys: readonly string[], wanted: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

const tokenSchema = z.object({ version: z.number().int().optional(), start: z.string().min(1) });

function writeToken(token: { readonly version: number | undefined; readonly start: ObjectKey }): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function readToken(text: string): ListPlan {
  try {
    const { version, start } = tokenSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return { version, start: start as ObjectKey }; // as `writeToken` wrote it
  } catch {
    throw badRequest('continue key is not valid: it was not made by this server');
  }
}
