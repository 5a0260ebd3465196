export * from './annotations.ts';
export * from './attachments.ts';
export * from './claims.ts';
export * from './plugins.ts';
export * from './translate.ts';
