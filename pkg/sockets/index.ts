export { closable } from './closable.ts';
