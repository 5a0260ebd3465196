import { parseTime, type Cached, type ResourcePoolStatusRequest } from '../../pkg/api/index.ts';

const answeredMs = 3_600_000;
const pendingMs = 24 * 3_600_000;

/** An answer is kept for an hour, a request without one for a day. */
export function isExpired({ metadata, status }: Cached<ResourcePoolStatusRequest>, nowMs: number): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed');
  const time = condition === undefined ? metadata.creationTimestamp : condition.lastTransitionTime;
  const sinceMs = parseTime(time);
  return sinceMs !== undefined && nowMs - sinceMs > (status === undefined ? pendingMs : answeredMs);
}
