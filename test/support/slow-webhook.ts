import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import type { ClusterAccess } from '../cluster/index.ts';
import { certificate, privateKey } from './loopback-certificate.ts';

export interface SlowWebhook extends AsyncDisposable {
  /** Pods in the reviews so far. */
  readonly asked: number;
  /** Reviews without a response. */
  readonly pending: number;
}

export interface SlowWebhookOptions {
  /** Only pods of this namespace are reviewed. */
  readonly namespace: string;
  readonly operation: 'CREATE' | 'DELETE';
  /** How many reviews are answered at once, before the slow ones. */
  readonly quick?: number;
  /** How long each of the others takes. */
  readonly answerMs: number;
}

interface Review {
  readonly request: { readonly uid: string };
}

/** A validating webhook that admits all pods, and takes its time. The API server asks it soon after it was registered. */
export async function startSlowWebhook(cluster: ClusterAccess, options: SlowWebhookOptions): Promise<SlowWebhook> {
  const { quick = 0, answerMs } = options;
  const timers = new Set<NodeJS.Timeout>();
  let asked = 0;
  let pending = 0;
  const admit = (review: Review, response: ServerResponse): void => {
    asked += 1;
    pending += 1;
    const answer = (): void => {
      pending -= 1;
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...body, response: { uid: review.request.uid, allowed: true } }));
    };
    if (asked <= quick) answer();
    else timers.add(setTimeout(answer, answerMs));
  };
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    json(request).then(
      (review) => admit(review as Review, response),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await register(cluster, `https://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  return {
    get asked() {
      return asked;
    },
    get pending() {
      return pending;
    },
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      server.close();
    },
  };
}

async function register(cluster: ClusterAccess, url: string, options: SlowWebhookOptions): Promise<void> {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: 'slow.example.com',
        clientConfig: { url, caBundle: Buffer.from(certificate).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: [options.operation], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': options.namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 30,
      },
    ],
  };
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const { status } = await cluster.request({ method: 'POST', path, body });
  if (status !== 201) throw new Error(`the server refused the webhook with ${status}`);
}
