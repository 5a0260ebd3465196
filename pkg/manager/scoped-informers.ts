import type { KubeObject } from '../api/index.ts';
import type { HandlerRegistration, Informer, InformerFactory } from '../../informers/index.ts';
import type { Loop } from '../loop/index.ts';

/** The shared informers for one run of one controller. */
export interface ScopedInformers extends InformerFactory {
  /** Removes every handler that was added through this view. */
  removeHandlers(): void;
}

/**
 * A controller that crashed is created again. Its old handlers must leave the shared informers: each crash would leak
 * memory and add work to every event.
 */
export function scopeInformers(factory: InformerFactory, loop?: Pick<Loop, 'storeOf'>): ScopedInformers {
  const registrations: HandlerRegistration[] = [];
  return {
    informerFor(kind, selection) {
      return scopeInformer(factory.informerFor(kind, selection), registrations, loop);
    },
    find(kind) {
      const informer = factory.find(kind);
      return informer === undefined ? undefined : scopeInformer(informer, registrations, loop);
    },
    release: (kind, selection) => factory.release(kind, selection),
    removeHandlers() {
      for (const registration of registrations.splice(0)) registration.remove();
    },
  };
}

function scopeInformer<T extends KubeObject>(
  informer: Informer<T>,
  into: HandlerRegistration[],
  loop: Pick<Loop, 'storeOf'> | undefined,
): Informer<T> {
  return {
    kind: informer.kind,
    scope: informer.scope,
    store: loop?.storeOf(informer) ?? informer.store,
    get hasSynced() {
      return informer.hasSynced;
    },
    addIndex: (index) => informer.addIndex(index),
    waitForSync: (signal) => informer.waitForSync(signal),
    addHandler(handler, options) {
      const registration = informer.addHandler(handler, options);
      into.push(registration);
      return registration;
    },
  };
}
