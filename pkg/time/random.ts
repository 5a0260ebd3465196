/** Chance as an argument, like time: what jitters takes this, tests bring a number. From 0 up to 1. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
