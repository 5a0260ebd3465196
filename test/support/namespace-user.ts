import type { Client } from '../../pkg/client/index.ts';

/** Somebody who works in one namespace, until the signal aborts. */
export class NamespaceUser {
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.client = client;
    this.namespace = namespace;
    this.signal = signal;
  }
}
