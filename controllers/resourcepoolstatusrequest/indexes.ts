import type { ResourceClaim, ResourcePoolStatusRequest } from '../../pkg/api/index.ts';
import { defineIndex } from '../../informers/index.ts';

export const claimsByDriver = defineIndex<ResourceClaim>('driver', ({ status }) => {
  return [...new Set((status?.allocation?.devices?.results ?? []).map(({ driver }) => driver))];
});
/** Requests without an answer. */
export const pendingByDriver = defineIndex<ResourcePoolStatusRequest>('driver', ({ spec, status }) =>
  status === undefined ? [spec.driver] : [],
);
