import { parseTime } from '../../pkg/api/index.ts';
import { annotationOf, type Class } from '../../pkg/volumes/index.ts';

const annotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export function isDefaultClass(storageClass: Class): boolean {
  return annotations.some((name) => annotationOf(storageClass, name) === 'true');
}

/** The newest of the default classes; of those, the first by name. */
export function selectDefaultClass(classes: readonly Class[]): string | undefined {
  const [first] = classes
    .filter(isDefaultClass)
    .sort((a, b) => createdMs(b) - createdMs(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return first?.metadata.name;
}

function createdMs({ metadata }: Class): number {
  return parseTime(metadata.creationTimestamp) ?? 0;
}
