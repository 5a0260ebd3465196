import { int64Of, type Cached, type ResourceSlice } from '../api/index.ts';

/** Drivers publish devices in pools, each in one or more slices. */
export function poolIdOf({ driver, pool }: { readonly driver: string; readonly pool: string }): string {
  return `${driver}/${pool}`;
}

/** The slices of the newest generation of a pool. Those of older ones count no longer. */
export function currentSlices(ofPool: readonly Cached<ResourceSlice>[]): readonly Cached<ResourceSlice>[] {
  const generationOf = ({ spec }: Cached<ResourceSlice>): bigint => int64Of(spec.pool.generation);
  let newest: bigint | undefined;
  for (const slice of ofPool) {
    const generation = generationOf(slice);
    if (newest === undefined || generation > newest) newest = generation;
  }
  return ofPool.filter((slice) => generationOf(slice) === newest);
}
