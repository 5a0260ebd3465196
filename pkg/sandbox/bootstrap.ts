import { formatTime } from '../api/index.ts';
import type { Api } from './rest/api.ts';
import { keyIn } from './rest/api.ts';
import { createObject } from './rest/create.ts';
import { decode } from './rest/decode.ts';

export interface BootstrapOptions {
  readonly port: number;
  /** PEM: the CA that an aggregated server has to trust. */
  readonly authority: string;
}

/** The objects that every cluster has from the start. */
export function bootstrap(api: Api, { port, authority }: BootstrapOptions): void {
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    ensure(api, { group: '', resource: 'namespaces', body: { metadata: { name } } });
  }
  ensure(api, {
    group: '',
    resource: 'services',
    namespace: 'default',
    body: {
      metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }] },
    },
  });
  ensure(api, {
    group: '',
    resource: 'configmaps',
    namespace: 'kube-system',
    body: { metadata: { name: 'extension-apiserver-authentication' }, data: { 'client-ca-file': authority } },
  });
  ensure(api, {
    group: '',
    resource: 'configmaps',
    namespace: 'kube-system',
    body: {
      metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
      data: { since: formatTime(api.nowMs).slice(0, 10) },
    },
  });
  for (const [name, value] of [
    ['system-cluster-critical', 2_000_000_000],
    ['system-node-critical', 2_000_001_000],
  ] as const) {
    ensure(api, { group: 'scheduling.k8s.io', resource: 'priorityclasses', body: { metadata: { name }, value } });
  }
}

interface Wanted {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly body: {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
    readonly [field: string]: unknown;
  };
}

function ensure(api: Api, { group, resource: name, namespace, body }: Wanted): void {
  const resource = api.registry.get(group, 'v1', name);
  if (api.find(resource, keyIn(resource, namespace, body.metadata.name)) !== undefined) return;
  createObject(api, { resource, namespace }, decode(body, resource, 'Strict').object, { dryRun: false });
}

/** Creates the `default` service account in every namespace, as a controller does in a cluster that runs one. */
export function followNamespaces(api: Api): () => void {
  const make = (namespace: string): void => {
    ensure(api, { group: '', resource: 'serviceaccounts', namespace, body: { metadata: { name: 'default' } } });
  };
  for (const { object } of api.store.entries('namespaces')) make(object.metadata.name);
  return api.store.listen('namespaces', ({ type, entry }) => {
    if (type === 'ADDED') queueMicrotask(() => make(entry.object.metadata.name));
  });
}
