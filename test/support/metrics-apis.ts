import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Client } from '../../pkg/client/index.ts';
import type { ClusterAccess } from '../cluster/index.ts';
import { registerApi } from './aggregated-api.ts';

/** What a metrics API answers: a body, an HTTP status with a text, or nothing for as long as the caller waits. */
export type MetricsAnswer =
  | { readonly body: unknown }
  | { readonly status: number; readonly text: string }
  | { readonly hangs: true };

export interface MetricsQuestion {
  readonly namespace: string;
  /** `metrics.k8s.io/v1beta1/pods`, `custom.metrics.k8s.io/v1beta2/pods/*\/hits`, `external.metrics.k8s.io/v1beta1/queue`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface MetricsApis extends AsyncDisposable {
  /** Every question, in order. */
  readonly questions: readonly MetricsQuestion[];
  /** Answers the questions about a namespace from now on. */
  answer(namespace: string, answer: (question: MetricsQuestion) => MetricsAnswer): void;
}

/** Which resource stands for all of a version: metrics APIs with free names list what they like. */
const served: Readonly<Record<string, string>> = {
  'metrics.k8s.io/v1beta1': 'pods',
  'custom.metrics.k8s.io/v1beta1': 'pods/hits',
  'custom.metrics.k8s.io/v1beta2': 'pods/hits',
  'external.metrics.k8s.io/v1beta1': 'queue',
};

/** The metrics APIs as real aggregated APIs: one server, and an APIService for each version. */
export async function startMetricsApis(
  cluster: ClusterAccess,
  client: Client,
  { versions = Object.keys(served) }: { readonly versions?: readonly string[] },
  signal: AbortSignal,
): Promise<MetricsApis> {
  const questions: MetricsQuestion[] = [];
  const answers = new Map<string, (question: MetricsQuestion) => MetricsAnswer>();
  const tls = { cert: readFileSync(cluster.files.apiServer), key: readFileSync(cluster.files.apiServerKey) };
  const server = createServer(tls, ({ url = '' }, response) => {
    const { pathname, searchParams: query } = new URL(url, 'https://localhost');
    const [, root = '', namespace, rest = ''] =
      /^\/apis\/([^/]+\/[^/]+)(?:\/namespaces\/([^/]+)\/(.+))?$/.exec(pathname) ?? [];
    if (namespace === undefined) return send(response, root in served ? { body: resourcesOf(root) } : nothing);
    const question = { namespace, path: `${root}/${decodeURIComponent(rest)}`, query };
    questions.push(question);
    send(response, answers.get(namespace)?.(question) ?? nothing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const registered = await Promise.all(
    versions.map((each) => {
      const [group = '', version = ''] = each.split('/');
      return registerApi(client, { group, version, port }, signal);
    }),
  );
  return {
    questions,
    answer: (namespace, answer) => void answers.set(namespace, answer),
    async [Symbol.asyncDispose]() {
      for (const each of registered) await each.remove();
      server.closeAllConnections();
      server.close();
    },
  };
}

const nothing: MetricsAnswer = { status: 404, text: '404 page not found' };

function send(response: ServerResponse, answer: MetricsAnswer): void {
  if ('hangs' in answer) return;
  if ('text' in answer) response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.text);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
}

function resourcesOf(groupVersion: string): unknown {
  const kind = groupVersion.startsWith('metrics') ? 'PodMetrics' : 'MetricValueList';
  const name = served[groupVersion] ?? '';
  // Discovery of aggregated APIs leaves out what has only subresources.
  const resources = [name.split('/')[0] ?? '', name].map((each) => ({
    name: each,
    singularName: '',
    namespaced: true,
    kind,
    verbs: ['get', 'list'],
  }));
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: [...new Map(resources.map((each) => [each.name, each])).values()],
  };
}
