/** What the author of an operator imports. Everything else has an entry point by its subject. */
export * from './pkg/api/index.ts';
export { TerminalError } from './pkg/controller/index.ts';
export type { Controller, ControllerContext, ControllerDefinition, ReconcileResult } from './pkg/controller/index.ts';
export { defineIndex } from './informers/index.ts';
export * from './pkg/manager/index.ts';
export * from './pkg/operator/index.ts';
