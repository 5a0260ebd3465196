import { copyOf } from '../../api/index.ts';
import { applyPatch } from 'rfc6902';
import * as z from 'zod';

import { badRequest, Failure } from '../failure.ts';
import type { Fields } from '../schema/index.ts';

const maxOperations = 10_000;
const pointer = z.string().regex(/^(\/|$)/, 'must be empty or start with a slash');
const operations = z.array(
  z.discriminatedUnion('op', [
    z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value: z.unknown() }),
    z.object({ op: z.literal('remove'), path: pointer }),
    z.object({ op: z.enum(['move', 'copy']), from: pointer, path: pointer }),
  ]),
);

/** The object after a JSON patch (RFC 6902). Throws 400 if it is not a patch, 422 if it cannot be applied. */
export function applyJsonPatch(object: Fields, patch: unknown): Fields {
  const parsed = operations.safeParse(patch);
  if (!parsed.success) throw badRequest(`error decoding patch: ${parsed.error.issues[0]?.message ?? 'not a patch'}`);
  if (parsed.data.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${parsed.data.length}`;
    throw new Failure(413, 'RequestEntityTooLarge', message);
  }
  const target = { root: copyOf(object) };
  const moved = parsed.data.map((operation) => ({
    ...operation,
    path: `/root${operation.path}`,
    ...('from' in operation && { from: `/root${operation.from}` }),
  }));
  // Checked above. The wrapper gives the empty path a parent, so that a patch can replace the whole object too.
  if (applyPatch(target, moved).some((problem) => problem !== null)) {
    throw new Failure(422, 'Invalid', 'the server rejected our request due to an error in our request');
  }
  return target.root;
}
