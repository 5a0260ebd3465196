import { parseTime, type Cached, type KubeObject } from '../../pkg/api/index.ts';

/** A kubelet that waits for a certificate has it, or has given up, long before this. */
const maxAgeMs = 15 * 60_000;

/** Whether the request can be deleted, whatever came of it. */
export function isOld({ metadata }: Cached<KubeObject>, nowMs: number): boolean {
  // In Go, the time of an object without one is the year 1.
  const createdMs = parseTime(metadata.creationTimestamp) ?? Number.NEGATIVE_INFINITY;
  return nowMs >= createdMs + maxAgeMs;
}
