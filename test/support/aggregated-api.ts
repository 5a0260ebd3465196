import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { APIServices, objectKey, Services } from '../../pkg/api/index.ts';
import { createDiscovery, type Client } from '../../pkg/client/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { eventually } from './eventually.ts';

const group = 'shelf.example';

export interface AggregatedApi extends AsyncDisposable {
  /** `namespace/name` of all objects. */
  readonly books: Set<string>;
  /** Every delete request, as `METHOD path`. */
  readonly deletions: readonly string[];
}

/** An aggregated API server, for a resource without deletecollection. */
export async function startAggregatedApi(
  cluster: ClusterAccess,
  client: Client,
  signal: AbortSignal,
): Promise<AggregatedApi> {
  const books = new Set<string>();
  const deletions: string[] = [];
  const tls = { cert: readFileSync(cluster.files.apiServer), key: readFileSync(cluster.files.apiServerKey) };
  const server = createServer(tls, ({ method, url = '' }, response) => {
    const { pathname } = new URL(url, 'https://localhost');
    const [, namespace, name] = /\/namespaces\/([^/]+)\/books(?:\/(.+))?$/.exec(pathname) ?? [];
    if (pathname === `/apis/${group}/v1`) return answer(response, 200, resources);
    if (namespace === undefined) return answer(response, 404, failure('NotFound', 404));
    if (method === 'DELETE') deletions.push(`${method} ${pathname}`);
    if (method === 'DELETE' && name === undefined) return answer(response, 405, failure('MethodNotAllowed', 405));
    if (method === 'DELETE') {
      const found = books.delete(`${namespace}/${String(name)}`);
      return answer(
        response,
        found ? 200 : 404,
        found ? { kind: 'Status', status: 'Success' } : failure('NotFound', 404),
      );
    }
    return answer(response, 200, metadataList([...books].filter((key) => key.startsWith(`${namespace}/`))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const registered = await registerApi(client, { group, version: 'v1', port }, signal);
  return {
    books,
    deletions,
    async [Symbol.asyncDispose]() {
      await registered.remove();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An APIService whose server cannot be reached. Resolves when discovery shows that. `remove` deletes it. */
export async function registerBrokenApi(client: Client, signal: AbortSignal): Promise<{ remove(): Promise<void> }> {
  const name = 'v1.nowhere.example';
  const service = { namespace: 'default', name: 'nowhere' };
  const spec = { group: 'nowhere.example', version: 'v1', service, insecureSkipTLSVerify: true, ...priorities };
  await client.create(APIServices, { metadata: { name }, spec }, signal);
  const discovery = createDiscovery(client);
  await eventually(async () => {
    await discovery.refresh(signal);
    return (await discovery.all(signal)).failures.has('nowhere.example/v1');
  }, signal);
  return { remove: () => client.delete(APIServices, objectKey(undefined, name), {}, signal) };
}

const priorities = { groupPriorityMinimum: 1000, versionPriority: 15 };

export interface RegisteredApi {
  readonly group: string;
  readonly version: string;
  /** Of a server on loopback. */
  readonly port: number;
}

/** Registers an API of a server on loopback. Resolves when discovery shows one of its resources. */
export async function registerApi(
  client: Client,
  { group: served, version, port }: RegisteredApi,
  signal: AbortSignal,
): Promise<{ remove(): Promise<void> }> {
  const name = `${version}.${served}`;
  const serviceName = name.replaceAll('.', '-');
  const service = { namespace: 'default', name: serviceName, port };
  await client.create(
    Services,
    {
      metadata: { namespace: 'default', name: serviceName },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    signal,
  );
  const spec = { group: served, version, service, insecureSkipTLSVerify: true, ...priorities };
  await client.create(APIServices, { metadata: { name }, spec }, signal);
  const discovery = createDiscovery(client);
  await eventually(async () => {
    await discovery.refresh(signal);
    const { resources: all } = await discovery.all(signal);
    return all.some(({ kind }) => kind.group === served && kind.version === version);
  }, signal);
  return {
    async remove() {
      await client.delete(APIServices, objectKey(undefined, name), {}, signal);
      await client.delete(Services, objectKey('default', serviceName), {}, signal);
    },
  };
}

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${group}/v1`,
  resources: [
    { name: 'books', singularName: 'book', namespaced: true, kind: 'Book', verbs: ['delete', 'get', 'list'] },
  ],
};

function failure(reason: string, code: number): unknown {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, message: reason, code };
}

function metadataList(keys: readonly string[]): unknown {
  const items = keys.map((key) => {
    const [namespace, name] = key.split('/');
    const metadata = { namespace, name, uid: key, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
    return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  });
  const head = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };
  return { ...head, metadata: { resourceVersion: '1' }, items };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
