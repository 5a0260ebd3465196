import { ConfigMaps } from '../../pkg/api/index.ts';
import { defineController, enqueueSelf, runWorkers, type ControllerDescriptor } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';

const name = 'greeting-controller';

/**
 * A controller that Kubernetes does not have, with flags of its own: it writes a greeting into every ConfigMap that has
 * the label `greet`.
 */
export const greeting: ControllerDescriptor = defineController({
  name,
  aliases: ['greeting'],
  onByDefault: false,
  flags: {
    'greeting-text': flag('string', {
      default: 'hello',
      own: true,
      config: 'GreetingController.Text',
      help: 'The text to write into each ConfigMap',
    }),
    'concurrent-greeting-syncs': flag('int32', {
      default: 1,
      own: true,
      check: atLeast(1),
      config: 'GreetingController.ConcurrentSyncs',
      help: 'ConfigMaps that may sync at the same time',
    }),
  },
  create(context, options) {
    const client = context.clientFor(name);
    const queue = context.queueFor('greeting');
    const configMaps = context.informers.informerFor(ConfigMaps);
    const handler = configMaps.addHandler(enqueueSelf(queue));
    const text = options['greeting-text'];
    const work = {
      name,
      context,
      queue,
      caches: [configMaps, handler],
      workers: options['concurrent-greeting-syncs'],
      async reconcile(key: Parameters<typeof configMaps.store.get>[0], signal: AbortSignal) {
        const configMap = configMaps.store.get(key);
        const isDone = configMap?.metadata.labels?.['greet'] === undefined || configMap.data?.['greeting'] === text;
        if (!isDone) await client.patch(ConfigMaps, key, { type: 'merge', body: { data: { greeting: text } } }, signal);
        return {};
      },
    };
    return { name, run: (signal) => runWorkers(work, signal) };
  },
});
