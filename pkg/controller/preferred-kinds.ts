import type { Kind } from '../api/index.ts';
import type { Discovery } from '../client/index.ts';

/** The served kinds that are wanted, each in its preferred version: a scale is read in that version. */
export async function preferredKinds(
  discovery: Pick<Discovery, 'preferred'>,
  isWanted: (kind: Kind) => boolean,
  signal: AbortSignal,
): Promise<Kind[]> {
  const { resources } = await discovery.preferred(signal);
  return resources.map(({ kind }) => kind).filter(isWanted);
}
