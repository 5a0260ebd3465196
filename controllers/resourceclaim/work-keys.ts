import { objectKey, splitKey, type ObjectKey } from '../../pkg/api/index.ts';

/** The kinds of keys in the one queue, which the Go binary has too. */
export type Subject = 'claim' | 'pod' | 'podgroup';

/** `namespace/pod:name`: the namespace comes first, because queues take turns by it. Names have no colon. */
export function workKey(subject: Subject, namespace: string | undefined, name: string): ObjectKey {
  return objectKey(namespace, `${subject}:${name}`);
}

export function parseWorkKey(key: ObjectKey): { readonly subject: Subject; readonly object: ObjectKey } {
  const { namespace, name } = splitKey(key);
  const colon = name.indexOf(':');
  return { subject: name.slice(0, colon) as Subject, object: objectKey(namespace, name.slice(colon + 1)) };
}
