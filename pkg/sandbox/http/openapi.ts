import { unknownPath } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import type { Answer } from './answer.ts';

export function openApiAnswer(_resources: readonly Resource[], _path: string): Answer {
  throw unknownPath();
}
