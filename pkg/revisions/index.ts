export * from './apply-revisions.ts';
export * from './history.ts';
export * from './new-revision.ts';
export * from './revision-data.ts';
