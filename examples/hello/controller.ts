import { ConfigMaps, controllerFor } from '../../index.ts';

/** Greets every ConfigMap that has the label `greet`. */
export const helloController = controllerFor(ConfigMaps, {
  name: 'hello',
  labelSelector: 'greet',
  async reconcile({ metadata, data }, { client, event }) {
    const greeting = `Hello, ${metadata.labels?.['greet'] || 'world'}!`;
    if (data?.['greeting'] === greeting) return;
    await client.patch(ConfigMaps, { metadata }, { data: { greeting } });
    event('Normal', 'Greeted', greeting);
  },
  permissions: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }],
});
