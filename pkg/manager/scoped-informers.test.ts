import { expect, test } from 'vitest';

import { Nodes, Pods } from '../api/index.ts';
import { createSharedInformerFactory, type InformerFactory } from '../../informers/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { scopeInformers } from './scoped-informers.ts';

test('the handlers of a run are removed with it, once, and its store is the shared one', () => {
  const factory = createSharedInformerFactory({
    client: new RecordingClient(),
    clock: new FakeClock(),
    logger: silentLogger,
  });
  const shared = factory.informerFor(Pods);
  let removals = 0;
  const counting: InformerFactory = {
    release: (kind) => factory.release(kind),
    find: (kind) => (factory.find(kind) === undefined ? undefined : counting.informerFor(kind)),
    informerFor(kind) {
      const informer = factory.informerFor(kind);
      const remove = (): void => void (removals += 1);
      return {
        kind,
        store: informer.store,
        scope: informer.scope,
        hasSynced: false,
        addIndex: (index) => informer.addIndex(index),
        waitForSync: (signal) => informer.waitForSync(signal),
        addHandler: () => ({ hasSynced: false, waitForSync: async () => {}, remove }),
      };
    },
  };
  const life = scopeInformers(counting);
  expect(life.informerFor(Pods).store).toBe(shared.store);
  life.informerFor(Pods).addHandler({});
  life.find(Pods)?.addHandler({});
  expect(life.find(Nodes)).toBeUndefined();
  life.removeHandlers();
  life.removeHandlers();
  expect(removals).toBe(2);
});
