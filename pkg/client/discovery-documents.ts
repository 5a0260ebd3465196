import * as z from 'zod';

import { defineKind, splitApiVersion } from '../api/index.ts';
import type { DiscoveredResource } from './discovery.ts';

/** An API group, with its versions in the server's order of preference. */
export interface DiscoveredGroup {
  readonly versions: readonly DiscoveredVersion[];
}

export interface DiscoveredVersion {
  readonly groupVersion: string;
  readonly resources: readonly DiscoveredResource[];
  /** Why the resources are unknown. */
  readonly failure?: string | undefined;
}

export const acceptAggregated = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

const aggregatedSchema = z.object({
  kind: z.literal('APIGroupDiscoveryList'),
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string().optional() }).nullish(),
        versions: z
          .array(
            z.object({
              version: z.string(),
              freshness: z.string().optional(),
              resources: z
                .array(
                  z.object({
                    resource: z.string(),
                    scope: z.string(),
                    responseKind: z.object({ kind: z.string() }).nullish(),
                    verbs: z.array(z.string()).nullish(),
                  }),
                )
                .nullish(),
            }),
          )
          .nullish(),
      }),
    )
    .nullish(),
});

/** Parses aggregated discovery. Returns undefined for the unaggregated form of older servers. */
export function parseAggregated(document: unknown): DiscoveredGroup[] | undefined {
  const parsed = aggregatedSchema.safeParse(document);
  if (!parsed.success) return undefined;
  return (parsed.data.items ?? []).map(({ metadata, versions }) => {
    const group = metadata?.name ?? '';
    return {
      versions: (versions ?? []).map(({ version, freshness, resources }) => {
        const groupVersion = group === '' ? version : `${group}/${version}`;
        // The aggregated API server of this group does not respond. The listed resources may be out of date.
        if (freshness === 'Stale') {
          return { groupVersion, resources: [], failure: `stale GroupVersion discovery: ${groupVersion}` };
        }
        const known = (resources ?? []).flatMap(({ resource, scope, responseKind, verbs }) =>
          responseKind === undefined || responseKind === null || responseKind.kind === ''
            ? [] // the resource has only subresources
            : [
                discovered(groupVersion, {
                  resource,
                  kind: responseKind.kind,
                  namespaced: scope === 'Namespaced',
                  verbs,
                }),
              ],
        );
        return { groupVersion, resources: known };
      }),
    };
  });
}

const coreVersionsSchema = z.object({ versions: z.array(z.string()) });

export function parseCoreVersions(document: unknown): string[] {
  return coreVersionsSchema.parse(document).versions;
}

const groupListSchema = z.object({
  groups: z
    .array(
      z.object({
        versions: z.array(z.object({ groupVersion: z.string() })),
        preferredVersion: z.object({ groupVersion: z.string() }).optional(),
      }),
    )
    .nullish(),
});

/** The versions of each group, with the preferred one first. */
export function parseGroupList(document: unknown): string[][] {
  return (groupListSchema.parse(document).groups ?? []).map(({ versions, preferredVersion }) => {
    const names = versions.map(({ groupVersion }) => groupVersion);
    if (preferredVersion === undefined) return names;
    const first = preferredVersion.groupVersion;
    return [first, ...names.filter((name) => name !== first)];
  });
}

const resourceListSchema = z.object({
  resources: z
    .array(
      z.object({
        name: z.string(),
        namespaced: z.boolean(),
        kind: z.string(),
        verbs: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
});

export function parseResourceList(groupVersion: string, document: unknown): DiscoveredResource[] {
  return (resourceListSchema.parse(document).resources ?? [])
    .filter(({ name }) => !name.includes('/')) // `pods/status`
    .map(({ name, ...resource }) => discovered(groupVersion, { resource: name, ...resource }));
}

interface ListedResource {
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs?: readonly string[] | null | undefined;
}

function discovered(groupVersion: string, { verbs, ...resource }: ListedResource): DiscoveredResource {
  return { kind: defineKind({ ...splitApiVersion(groupVersion), ...resource }), verbs: new Set(verbs ?? []) };
}
