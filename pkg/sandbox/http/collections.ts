import type { ObjectKey } from '../../api/index.ts';
import * as z from 'zod';

import { badRequest } from '../failure.ts';
import { storageId } from '../registry/index.ts';
import { asVersion, keyIn } from '../rest/api.ts';
import { compileSelection, listObjects } from '../rest/list.ts';
import { deleteObject, type Deletion } from '../rest/remove.ts';
import { rulesOf } from '../rules/index.ts';
import type { Fields } from '../schema/index.ts';
import { ok, type Answer } from './answer.ts';
import { showList, showObject } from './represent.ts';
import { isTrue, requireVerb, success, viewOf, type Call, type ResourceDeps } from './call.ts';
import { startWatch } from './watch.ts';

function selectionOf({ path, query }: Call, more?: string) {
  const fieldSelector = [query.get('fieldSelector') ?? '', more ?? ''].filter((each) => each !== '').join(',');
  return { namespace: path.namespace, labelSelector: query.get('labelSelector') ?? undefined, fieldSelector };
}

export function collectionAnswer(deps: ResourceDeps, call: Call): Answer {
  const { resource, query } = call;
  const page = listObjects(deps.api, resource, {
    ...selectionOf(call),
    limit: wholeNumber(query, 'limit') ?? 0,
    continue: query.get('continue') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
  });
  return ok(showList(page, resource, viewOf(deps, call)));
}

/** Starts a stream, and returns no other response. */
export function watchAnswer(deps: ResourceDeps, call: Call, fieldSelector?: string): undefined {
  const { resource, query, response } = call;
  requireVerb(resource, 'watch');
  const sendInitialEvents = query.get('sendInitialEvents');
  const request = {
    ...selectionOf(call, fieldSelector),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
  };
  const stream = startWatch(deps, resource, request, { view: viewOf(deps, call), response });
  deps.watches.add(stream);
  response.once('close', () => deps.watches.delete(stream));
  return undefined;
}

const deletionSchema = z.object({
  gracePeriodSeconds: z.number().int().nullish(),
  propagationPolicy: z.string().nullish(),
  orphanDependents: z.boolean().nullish(),
  preconditions: z.object({ uid: z.string().nullish(), resourceVersion: z.string().nullish() }).nullish(),
});

/** Watches one object, or all selected objects if there is no key. */
export function deleteAnswer(deps: ResourceDeps, call: Call, key: ObjectKey | undefined, body: Fields): Answer {
  const { resource, dryRun } = call;
  const deletion = deletionOf(call, body);
  const options = { dryRun: dryRun || isDryRun(body) };
  const view = viewOf(deps, call);
  if (key === undefined) {
    const matches = compileSelection(selectionOf(call), resource);
    const chosen = [...deps.api.store.entries(storageId(resource))].filter(({ object }) => matches(object));
    const entries = chosen.map(({ object }) => {
      const each = keyIn(resource, object.metadata.namespace, object.metadata.name);
      return asVersion(deleteObject(deps.api, { resource, key: each }, deletion, options).entry, resource);
    });
    const metadata = { resourceVersion: String(deps.api.store.version) };
    return ok(showList({ entries, metadata }, resource, view));
  }
  const { entry, removed } = deleteObject(deps.api, { resource, key }, deletion, options);
  const rules = rulesOf(storageId(resource), resource.type.kind === 'custom');
  if (!removed || rules.returnsDeleted === true) return ok(showObject(asVersion(entry, resource), resource, view));
  const { name, uid } = entry.object.metadata;
  const { group } = resource;
  return ok({ ...success(), details: { name, ...(group !== '' && { group }), kind: resource.resource, uid } });
}

function isDryRun(body: Fields): boolean {
  return Array.isArray(body['dryRun']) && body['dryRun'].includes('All');
}

/** The body wins over the query, as in kube-apiserver. */
function deletionOf({ query }: Call, body: Fields): Deletion {
  const parsed = deletionSchema.safeParse(body);
  if (!parsed.success) throw badRequest(`DeleteOptions: ${parsed.error.issues[0]?.message ?? 'invalid'}`);
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = parsed.data;
  const orphan = query.get('orphanDependents');
  return {
    gracePeriodSeconds: gracePeriodSeconds ?? wholeNumber(query, 'gracePeriodSeconds'),
    propagationPolicy: propagationPolicy ?? query.get('propagationPolicy') ?? undefined,
    orphanDependents: orphanDependents ?? (orphan === null ? undefined : isTrue(orphan)),
    preconditions: {
      uid: preconditions?.uid ?? undefined,
      resourceVersion: preconditions?.resourceVersion ?? undefined,
    },
  };
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
