import { CORE_SCHEMA, load } from 'js-yaml';
import * as z from 'zod';

import type { RecyclerTemplate } from './recycler-pod.ts';

const podFile = z.looseObject({
  apiVersion: z.literal('v1', { error: 'apiVersion must be v1' }),
  kind: z.literal('Pod', { error: 'kind must be Pod' }),
  metadata: z.looseObject({}).optional(),
  spec: z.looseObject(
    {
      volumes: z
        .array(z.looseObject({ name: z.string() }), { error: 'does not contain any volume(s)' })
        .min(1, 'does not contain any volume(s)'),
    },
    { error: 'spec is missing' },
  ),
});

/** The pod in the file of a flag, as YAML or JSON. The server checks the rest of it. */
export function parseRecyclerTemplate(text: string): RecyclerTemplate {
  if (text.trim() === '') throw new TemplateError('file was empty');
  const parsed = podFile.safeParse(load(text, { schema: CORE_SCHEMA }));
  if (!parsed.success) throw new TemplateError(parsed.error.issues[0]?.message ?? 'is not a pod');
  const { metadata = {}, spec } = parsed.data;
  return { metadata, spec } as unknown as RecyclerTemplate;
}

export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly reason = 'InvalidTemplate';
}
