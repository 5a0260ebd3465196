import type { KubeObject } from '../../pkg/api/index.ts';
import type { HandlerRegistration, Informer, InformerFactory } from '../../informers/index.ts';

/** The shared informers as one life of one controller sees them. */
export interface ScopedInformers extends InformerFactory {
  /** Takes every handler off that was added through this view. */
  removeHandlers(): void;
}

/**
 * A controller that crashed is built anew. Without this its old handlers would stay on the shared informers, hold its
 * memory and cost time on every event, once more for every crash.
 */
export function scopeInformers(factory: InformerFactory): ScopedInformers {
  const registrations: HandlerRegistration[] = [];
  return {
    informerFor(kind, selection) {
      return recordHandlers(factory.informerFor(kind, selection), registrations);
    },
    find(kind) {
      const informer = factory.find(kind);
      return informer === undefined ? undefined : recordHandlers(informer, registrations);
    },
    release: (kind, selection) => factory.release(kind, selection),
    removeHandlers() {
      for (const registration of registrations.splice(0)) registration.remove();
    },
  };
}

function recordHandlers<T extends KubeObject>(informer: Informer<T>, into: HandlerRegistration[]): Informer<T> {
  return {
    kind: informer.kind,
    store: informer.store,
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
