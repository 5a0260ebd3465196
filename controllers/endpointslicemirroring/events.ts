import type { NewEvent } from '../../pkg/events/index.ts';
import type { Desired } from './desired.ts';

/** The warnings about addresses that are not mirrored. */
export function planEvents(
  { invalid, skipped }: Pick<Desired, 'invalid' | 'skipped'>,
  maxPerSubset: number,
): NewEvent[] {
  const events: NewEvent[] = [];
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    events.push({ type: 'Warning', reason: 'InvalidIPAddress', message });
  }
  if (skipped > invalid) {
    const limit = `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
    const message = `${limit} ${skipped} addresses were skipped`;
    events.push({ type: 'Warning', reason: 'TooManyAddressesToMirror', message });
  }
  return events;
}
