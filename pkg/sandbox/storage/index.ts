export { openDatabase } from './database.ts';
export { Entry, Store, tooLargeVersion } from './store.ts';
export type { Change } from './store.ts';
