import { annotationsChanged, controllerFor, Namespaces, parseTime, type Cached, type Namespace } from '../../index.ts';

const annotation = 'namespace-ttl.example.com/expires-after';
const warned = 'namespace-ttl.example.com/expires-at';

/**
 * Deletes namespaces some time after they were created: those of previews, of pull requests, of experiments. The
 * annotation `namespace-ttl.example.com/expires-after: 8h` says when. It may be changed or removed at any time.
 */
export const namespaceTtlController = controllerFor(Namespaces, {
  name: 'namespace-ttl',
  when: annotationsChanged,
  permissions: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['delete', 'patch'] }],
  async reconcile(namespace, { client, event, now }) {
    const { annotations } = namespace.metadata;
    const text = annotations?.[annotation];
    if (text === undefined) return {};
    const expiresMs = expiryOf(namespace, text);
    if (expiresMs === undefined) {
      event('Warning', 'InvalidTTL', `${JSON.stringify(text)} is not a time such as 30m, 8h or 7d`);
      return {};
    }
    const leftMs = expiresMs - now();
    if (leftMs <= 0) {
      event('Normal', 'Expired', `deleted ${text} after its creation`);
      await client.delete(Namespaces, namespace);
      return {};
    }
    const expiresAt = new Date(expiresMs).toISOString();
    if (annotations?.[warned] !== expiresAt) {
      await client.patch(Namespaces, namespace, { metadata: { annotations: { [warned]: expiresAt } } });
    }
    return { requeueAfterMs: leftMs };
  },
});

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** When a namespace expires. Undefined if the text is not a number and a unit. */
export function expiryOf({ metadata }: Cached<Namespace>, text: string): number | undefined {
  const [, amount, unit = ''] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  const createdMs = parseTime(metadata.creationTimestamp);
  const unitMs = units[unit];
  if (amount === undefined || unitMs === undefined || createdMs === undefined) return undefined;
  return createdMs + Number(amount) * unitMs;
}
