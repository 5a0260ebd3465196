import { formatTime, objectKey, type TokenRequest } from '../../api/index.ts';
import type { Authenticator, TokenSigner, User } from '../auth/index.ts';
import { badRequest, notFound } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import { isFields, type Fields } from '../schema/index.ts';
import type { Api } from './api.ts';

/** Part of every review, because the sandbox does not evaluate roles. */
const allowed = { allowed: true, reason: 'the sandbox allows everything to every authenticated user' };

/** Answers a review, which is never stored; undefined if the resource is not a review. */
export async function answerReview(
  resource: Resource,
  body: Fields,
  user: User,
  authenticator: Authenticator,
): Promise<Fields | undefined> {
  switch (resource.resource) {
    case 'selfsubjectreviews':
      return { ...body, status: { userInfo: user } };
    case 'tokenreviews':
      return { ...body, status: await reviewToken(body['spec'], authenticator) };
    case 'subjectaccessreviews':
    case 'selfsubjectaccessreviews':
    case 'localsubjectaccessreviews':
      return { ...body, status: allowed };
    case 'selfsubjectrulesreviews': {
      const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
      return {
        ...body,
        status: { resourceRules, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false },
      };
    }
    default:
      return undefined;
  }
}

async function reviewToken(spec: unknown, authenticator: Authenticator): Promise<Fields> {
  const token = isFields(spec) ? spec['token'] : undefined;
  const user = typeof token === 'string' ? await authenticator.tokenUser(token) : undefined;
  if (user === undefined) return { user: {}, error: 'invalid bearer token' };
  const audiences = isFields(spec) && Array.isArray(spec['audiences']) ? { audiences: spec['audiences'] } : {};
  return { authenticated: true, user, ...audiences };
}

const minSeconds = 600;

/** A new token for a service account. */
export async function createToken(
  api: Api,
  tokens: TokenSigner,
  target: { readonly namespace: string; readonly name: string },
  request: TokenRequest,
): Promise<TokenRequest> {
  const { namespace, name } = target;
  const account = api.store.get('serviceaccounts', objectKey(namespace, name));
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts', kind: 'ServiceAccount' }, name);
  const { expirationSeconds = 3600, audiences = [], boundObjectRef } = request.spec ?? {};
  if (expirationSeconds < minSeconds) {
    throw badRequest('spec.expirationSeconds: Invalid value: may not specify a duration less than 10 minutes');
  }
  const issuedAtSeconds = Math.floor(api.nowMs / 1000);
  const expiresAtSeconds = issuedAtSeconds + expirationSeconds;
  const { kind = 'Pod', name: boundName = '', uid = '' } = boundObjectRef ?? {};
  const token = await tokens.issue({
    audiences,
    issuedAtSeconds,
    expiresAtSeconds,
    subject: {
      namespace,
      serviceAccount: { name, uid: account.object.metadata.uid },
      boundTo: boundObjectRef === undefined ? undefined : { kind, name: boundName, uid },
    },
  });
  return {
    ...request,
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name, namespace, creationTimestamp: formatTime(api.nowMs) },
    spec: { ...request.spec, audiences, expirationSeconds },
    status: { token, expirationTimestamp: formatTime(expiresAtSeconds * 1000) },
  };
}
