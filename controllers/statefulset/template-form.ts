import { copyOf, ExactInteger, goJson, type Cached, type PodTemplateSpec } from '../../pkg/api/index.ts';
import { defaultPodSpec } from '../../pkg/pods/index.ts';

/**
 * Whether the template of a revision means the same as the set's template: with the current defaults, and without
 * fields that Go now omits in JSON.
 */
export function isSameTemplate(restored: Cached<PodTemplateSpec>, current: Cached<PodTemplateSpec>): boolean {
  return goJson(normalForm(restored)) === goJson(normalForm(current));
}

function normalForm(template: Cached<PodTemplateSpec>): unknown {
  const copy = copyOf<PodTemplateSpec>(template);
  const spec = withoutEmpty(copy.spec ?? {}, 'spec') as NonNullable<PodTemplateSpec['spec']>;
  defaultPodSpec(spec);
  return { metadata: withoutEmpty(copy.metadata ?? {}, 'metadata'), spec };
}

/**
 * Fields that are maps in Go, which omits empty maps. Other empty objects have a meaning, as `emptyDir: {}`. Go always
 * writes the resources of a container and metadata, even if they are empty.
 */
const omittedIfEmpty = new Set(
  'labels annotations nodeSelector limits requests matchLabels volumeAttributes options overhead resources metadata'.split(
    ' ',
  ),
);

function withoutEmpty(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutEmpty(item, name));
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return value;
  const kept = Object.entries(value)
    .map(([field, inner]) => [field, withoutEmpty(inner, field)] as const)
    .filter(([field, inner]) => !isOmitted(field, inner, name));
  return Object.fromEntries(kept);
}

function isOmitted(field: string, value: unknown, parent: string): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || value instanceof ExactInteger || Object.keys(value).length > 0) return false;
  // The resources of the pod itself are a pointer in Go: present or absent.
  return omittedIfEmpty.has(field) && !(field === 'resources' && parent === 'spec');
}
