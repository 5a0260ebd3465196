import builtIn from '../schema/built-in.json' with { type: 'json' };
import { objectType } from '../schema/index.ts';
import type { Resource } from './resource.ts';

/** The fields as in the file. */
interface WireResource extends Omit<Resource, 'shortNames' | 'categories' | 'subresources' | 'type'> {
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: Readonly<Record<string, readonly string[] | undefined>>;
  readonly type: string;
}

/** Subresources that need containers, which the sandbox does not have. */
const withoutContainers = new Set(['attach', 'exec', 'log', 'portforward', 'proxy', 'ephemeralcontainers', 'resize']);
const wireResources: readonly WireResource[] = builtIn.resources;

export const builtInResources: readonly Resource[] = wireResources
  .filter(({ resource }) => resource !== 'componentstatuses')
  .map(({ shortNames = [], categories = [], subresources = {}, type, ...rest }) => ({
    ...rest,
    shortNames,
    categories,
    subresources: new Map(
      Object.entries(subresources).flatMap(([name, verbs]) =>
        withoutContainers.has(name) || verbs === undefined ? [] : [[name, verbs] as const],
      ),
    ),
    type: { kind: 'built-in', object: objectType(type) },
  }));
