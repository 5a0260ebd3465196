import { readFileSync } from 'node:fs';

import {
  CertificateSigningRequests,
  ConfigMaps,
  formatTime,
  objectKey,
  PodCertificateRequests,
  Secrets,
} from '../../../pkg/api/index.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { createClusterInfo, createToken, deleteToken, tokenKey, untilSigned } from '../bootstrap-tokens.ts';
import {
  approve,
  createRequest,
  createSigningRequest,
  decide,
  kubeletClient,
  nodeSubject,
  untilFinished,
} from '../certificate-requests.ts';
import { eventually } from '../eventually.ts';
import { certificateApis, certificateGates } from '../gated-apis.ts';
import { exists } from '../owner-graph-objects.ts';
import { createPodRequest } from '../pod-certificate-requests.ts';
import { disturbBundle } from '../trust-bundles.ts';
import type { FaultScenario } from './scenario.ts';

/** Keys, serial numbers and times differ in every run. */
const ignore = ['CertificateSigningRequest:spec.request', 'CertificateSigningRequest:status.certificate'];
const kinds = [CertificateSigningRequests];

/** Two nodes ask for a certificate. */
const approving: FaultScenario = {
  controller: 'certificatesigningrequest-approving-controller',
  kinds,
  ignore,
  async act({ client, namespace, signal }) {
    for (const part of ['a', 'b']) {
      const name = `${namespace}-${part}`;
      const request = await createRequest(nodeSubject(part));
      await createSigningRequest(client, name, request, { ...kubeletClient, signal });
      await eventually(async () => {
        const { status } = await client.get(CertificateSigningRequests, objectKey(undefined, name), signal);
        return status?.conditions?.some(({ type }) => type === 'Approved') === true;
      }, signal);
    }
  },
};

/** One request is signed, and one is refused. */
const signing: FaultScenario = {
  controller: 'certificatesigningrequest-signing-controller',
  flags: ({ files }: ClusterAccess) => [
    `--cluster-signing-cert-file=${files.ca}`,
    `--cluster-signing-key-file=${files.caKey}`,
  ],
  kinds,
  ignore,
  async act({ client, namespace, signal }) {
    for (const [part, usages] of [
      ['good', kubeletClient.usages],
      ['bad', ['client auth']],
    ] as const) {
      const name = `${namespace}-${part}`;
      const request = await createRequest(nodeSubject(part));
      await createSigningRequest(client, name, request, { ...kubeletClient, usages, signal });
      await approve(client, name, signal);
      await untilFinished(client, name, signal);
    }
  },
};

/** Two requests that were denied long ago, and one that was not denied. */
const cleaner: FaultScenario = {
  controller: 'certificatesigningrequest-cleaner-controller',
  kinds,
  ignore,
  looksAtStart: true,
  async act({ client, namespace, signal }) {
    const lastUpdateTime = formatTime(Date.now() - 7_200_000);
    const request = await createRequest(nodeSubject('x'));
    for (const part of ['first', 'second', 'kept']) {
      const name = `${namespace}-${part}`;
      await createSigningRequest(client, name, request, { ...kubeletClient, signal });
      await decide(client, name, { type: 'Denied', ...(part !== 'kept' && { lastUpdateTime }) }, signal);
    }
  },
};

/** Tokens are created and deleted. The result is outside the trial's namespace, so it is copied there. */
const bootstrapSigner: FaultScenario = {
  controller: 'bootstrap-signer-controller',
  isAlone: true,
  kinds: [ConfigMaps],
  async act({ client, namespace, signal }) {
    for (const id of ['fault1', 'fault2']) await deleteToken(client, id, signal);
    await createClusterInfo(client, 'content', signal);
    await createToken(client, 'fault1', {}, signal);
    await untilSigned(client, ['fault1'], signal);
    await createToken(client, 'fault2', {}, signal);
    await untilSigned(client, ['fault1', 'fault2'], signal);
    await deleteToken(client, 'fault1', signal);
    const data = await untilSigned(client, ['fault2'], signal);
    await client.create(ConfigMaps, { metadata: { namespace, name: 'signed' }, data: { ...data } }, signal);
    await deleteToken(client, 'fault2', signal);
    await untilSigned(client, [], signal);
  },
};

/** One token has expired, one is about to expire, and one does not expire. */
const tokenCleaner: FaultScenario = {
  controller: 'token-cleaner-controller',
  isAlone: true,
  kinds: [ConfigMaps],
  async act({ client, namespace, signal }) {
    const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
    for (const id of ['expire', 'soon00', 'stays0']) await deleteToken(client, id, signal);
    await createToken(client, 'stays0', { expiration: inMs(3_600_000) }, signal);
    await createToken(client, 'expire', { expiration: inMs(-1000) }, signal);
    await createToken(client, 'soon00', { expiration: inMs(500) }, signal);
    for (const id of ['expire', 'soon00']) {
      await eventually(async () => !(await exists(client, Secrets, tokenKey(id), signal)), signal);
    }
    const lasts = String(await exists(client, Secrets, tokenKey('stays0'), signal));
    await client.create(ConfigMaps, { metadata: { namespace, name: 'outcome' }, data: { lasts } }, signal);
    await deleteToken(client, 'stays0', signal);
  },
};

/** Two requests of pods are old, and one is not. */
const podRequestCleaner: FaultScenario = {
  controller: 'podcertificaterequest-cleaner-controller',
  needs: certificateApis,
  flags: () => [certificateGates],
  kinds: [PodCertificateRequests],
  ignore: ['PodCertificateRequest:spec.stubPKCS10Request'],
  looksAtStart: true,
  async act({ client, cluster, namespace, signal }) {
    const user = { client, cluster, namespace };
    await createPodRequest(user, { name: 'first', minutes: 16 }, signal);
    await createPodRequest(user, { name: 'second', minutes: 60 }, signal);
    await createPodRequest(user, { name: 'kept', minutes: 0 }, signal);
  },
};

/** Somebody deletes the bundle, changes it, and adds another. The outcome is copied into the trial's namespace. */
const trustBundlePublisher: FaultScenario = {
  controller: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
  needs: certificateApis,
  flags: () => [certificateGates],
  isAlone: true,
  kinds: [ConfigMaps],
  async act({ client, cluster, namespace, signal }) {
    const bundles = await disturbBundle({ client }, readFileSync(cluster.files.ca, 'utf8'), signal);
    const data = Object.fromEntries(bundles.map(({ metadata }, step) => [String(step), metadata.name]));
    await client.create(ConfigMaps, { metadata: { namespace, name: 'published' }, data }, signal);
  },
};

export const certificateScenarios: readonly FaultScenario[] = [
  approving,
  signing,
  cleaner,
  bootstrapSigner,
  tokenCleaner,
  podRequestCleaner,
  trustBundlePublisher,
];
