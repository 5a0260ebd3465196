export { Loop } from './loop.ts';
export { createLoopPages } from './pages.ts';
export type { LoopPages, PageAnswer } from './pages.ts';
export type { Picture, TryAction, TryResult } from './protocol.ts';
