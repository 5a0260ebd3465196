/** Random numbers from 0 to 1 as an argument, like time: code with jitter takes this, tests pass a fixed number. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
