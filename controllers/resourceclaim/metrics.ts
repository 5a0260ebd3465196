import { ownValue, type Cached, type ResourceClaim } from '../../pkg/api/index.ts';
import { defineCounter, defineGauge, type MetricsRegistry } from '../../pkg/metrics/index.ts';
import type { Handler } from '../../informers/index.ts';
import { entryAnnotation, hasAdminAccess } from './new-claim.ts';

/** The scheduler sets it on the claims that it creates for extended resources. */
const extendedResourceAnnotation = 'resource.kubernetes.io/extended-resource-claim';
const sources = ['', 'extended_resource', 'resource_claim_template'];
const booleans = ['false', 'true'];

export type ResourceClaimMetrics = ReturnType<typeof defineResourceClaimMetrics>;

export function defineResourceClaimMetrics(registry: MetricsRegistry) {
  const creates = defineCounter(registry, {
    name: 'resourceclaim_controller_creates_total',
    help: 'Requests to create a ResourceClaim, by outcome and admin access',
    labels: ['status', 'admin_access'],
  });
  const claims = defineGauge(registry, {
    name: 'resourceclaim_controller_resource_claims',
    help: 'ResourceClaims by allocation, admin access and source: a template, an extended resource, or a user (empty)',
    labels: ['allocated', 'admin_access', 'source'],
  });
  claims.clear(); // those of an earlier run of the controller
  for (const admin_access of booleans) {
    for (const status of ['failure', 'success']) creates.with({ status, admin_access });
    for (const allocated of booleans) for (const source of sources) claims.with({ allocated, admin_access, source });
  }
  /** Counts the claims of the cache as they change: a scrape of many claims would otherwise read them all. */
  const count: Handler<ResourceClaim> = {
    added: (claim) => claims.with(labelsOf(claim)).inc(),
    updated(before, after) {
      claims.with(labelsOf(before)).dec();
      claims.with(labelsOf(after)).inc();
    },
    deleted: (last) => claims.with(labelsOf(last)).dec(),
  };
  return { creates, count };
}

type Labels = Record<'allocated' | 'admin_access' | 'source', string>;

export function labelsOf({ metadata, spec, status }: Cached<ResourceClaim>): Labels {
  const annotations = metadata.annotations ?? {};
  const isOfTemplate = (ownValue(annotations, entryAnnotation) ?? '') !== '';
  const source = isOfTemplate ? 'resource_claim_template' : '';
  return {
    allocated: String(status?.allocation !== undefined),
    admin_access: String(hasAdminAccess(spec)),
    source: ownValue(annotations, extendedResourceAnnotation) === 'true' ? 'extended_resource' : source,
  };
}
