import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createNamespaceController } from './namespace.ts';

export const namespace = defineController({
  name: 'namespace-controller',
  aliases: ['namespace'],
  flags: {
    'concurrent-namespace-syncs': flag('int32', {
      default: 10,
      check: atLeast(1),
      config: 'NamespaceController.ConcurrentNamespaceSyncs',
      help: 'Namespaces that may sync at the same time',
    }),
    'namespace-sync-period': flag('duration', {
      default: '5m0s',
      check: atLeast(0),
      config: 'NamespaceController.NamespaceSyncPeriod',
      help: 'How often every namespace is synced again',
    }),
    'namespace-deletion-grace-period': flag('duration', {
      own: true,
      default: '5s', // the constant of the Go binary
      check: atLeast(0),
      help:
        'How long a deleted namespace keeps its content. Other API servers may still accept objects in it until they ' +
        'observe the deletion. A cluster with one API server can set 0s',
    }),
  },
  create: (context, options) =>
    createNamespaceController(context, {
      workers: options['concurrent-namespace-syncs'],
      resyncMs: options['namespace-sync-period'],
      deletionGraceMs: options['namespace-deletion-grace-period'],
    }),
});
