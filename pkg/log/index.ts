export { createLogger } from './create-logger.ts';
export type { LoggerOptions } from './create-logger.ts';
export { silentLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { openLogStream } from './stream.ts';
export type { LogStream } from './stream.ts';
