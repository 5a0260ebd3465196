import { formatSelector, ownValue, setOwn, copyOf, type Scale } from '../../api/index.ts';
import { conflict, invalid, notFound, DefectError } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import { readPath } from '../table/index.ts';
import type { Entry } from '../storage/index.ts';
import { asVersion, type Api, type ObjectTarget } from './api.ts';
import type { WriteOptions } from './create.ts';
import { storeUpdate } from './update.ts';

interface ScalePlaces {
  readonly spec: string;
  readonly status: string;
  readonly selector: string | undefined;
}

const builtIn: ScalePlaces = { spec: '.spec.replicas', status: '.status.replicas', selector: '.spec.selector' };

function placesOf({ type }: Resource): ScalePlaces {
  if (type.kind === 'built-in') return builtIn;
  const { scale } = type.custom;
  if (scale === undefined) throw new DefectError('a resource without scale was asked for its scale');
  return { spec: scale.specReplicasPath, status: scale.statusReplicasPath, selector: scale.labelSelectorPath };
}

/** The scale subresource: the current and the desired number of replicas, for every kind that has them. */
export function scaleOf(resource: Resource, { object }: Entry): Scale {
  const places = placesOf(resource);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const number = (path: string): number => {
    const value = readPath(object, path);
    return typeof value === 'number' ? value : 0;
  };
  const selector = places.selector === undefined ? undefined : readPath(object, places.selector);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: number(places.spec) },
    status: { replicas: number(places.status), selector: selectorText(selector) },
  };
}

function selectorText(selector: unknown): string | undefined {
  if (typeof selector === 'string') return selector;
  if (!isFields(selector)) return undefined;
  const isLabels = selector['matchLabels'] === undefined && selector['matchExpressions'] === undefined;
  // A replication controller selects by plain labels.
  return formatSelector(isLabels ? { matchLabels: selector } : selector);
}

export function updateScale(
  api: Api,
  { resource, key }: ObjectTarget,
  scale: Fields,
  { dryRun, manager }: WriteOptions,
): Scale {
  const old = asVersion(api.get(resource, key), resource);
  const { metadata, spec } = scale;
  const { name } = old.object.metadata;
  const replicas = isFields(spec) ? (spec['replicas'] ?? 0) : 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    const detail = 'must be greater than or equal to 0';
    const subject = { group: 'autoscaling', resource: 'scales', kind: 'Scale' };
    throw invalid(subject, name, [{ type: 'Invalid', field: 'spec.replicas', value: replicas, detail }]);
  }
  const given = isFields(metadata) ? metadata : {};
  const version = given['resourceVersion'];
  if (version !== undefined && version !== '' && version !== old.object.metadata.resourceVersion) {
    throw conflict(resource, name);
  }
  if (given['name'] !== undefined && given['name'] !== name) throw notFound(resource, JSON.stringify(given['name']));
  const next: Fields = copyOf(old.object);
  setPath(next, placesOf(resource).spec, replicas);
  const stored = storeUpdate(api, resource, { key, old, next }, { dryRun, manager, target: 'object' });
  return scaleOf(resource, stored);
}

function setPath(object: Fields, path: string, value: unknown): void {
  const names = path.split('.').filter((name) => name !== '');
  let place = object;
  for (const name of names.slice(0, -1)) {
    const inner = ownValue(place, name);
    const next: Fields = isFields(inner) ? inner : {};
    setOwn(place, name, next);
    place = next;
  }
  place[names.at(-1) ?? ''] = value;
}
