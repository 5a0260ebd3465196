import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Client } from '../client/index.ts';
import type { Clock } from '../time/index.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { compileOpenPaths } from './paths.ts';
import { createReviewer } from './review.ts';
import type { User } from './user.ts';

export interface AccessRequest {
  readonly user: User;
  readonly path: string;
  /** The method in lower case. */
  readonly verb: string;
}

export type Decision =
  | { readonly allowed: true }
  /** `denied`: by a rule, and not because none allows it. */
  | { readonly allowed: false; readonly reason: string; readonly denied?: true };

export interface Authorizer {
  /** Rejects when the API server cannot be reached. */
  authorize(request: AccessRequest, signal: AbortSignal): Promise<Decision>;
}

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const maxEntries = 8192;
/** A longer reason is not cached. It may contain the path, and anyone can request any path. */
const maxCachedReasonLength = 1024;

const answer = z.object({
  status: z.object({
    allowed: z.boolean().default(false),
    denied: z.boolean().default(false),
    reason: z.string().default(''),
  }),
});

/** Allows everything to administrators, the always-allowed paths to everyone, and the rest as the API server decides. */
export function createAuthorizer(deps: {
  readonly client?: Pick<Client, 'request'> | undefined;
  readonly clock: Clock;
  readonly alwaysAllowPaths: readonly string[];
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
}): Authorizer {
  const { client, clock } = deps;
  const isOpen = compileOpenPaths(deps.alwaysAllowPaths);
  const cache = new ExpiringCache<Decision>(clock, maxEntries);
  const reviewer = client === undefined ? undefined : createReviewer({ client, clock, path });
  return {
    async authorize(request, signal) {
      const { user } = request;
      // The API server allows this group everything, so no review is needed.
      if (user.groups.includes('system:masters') || isOpen(request.path)) return { allowed: true };
      if (reviewer === undefined) return { allowed: false, reason: '' };
      const body = reviewOf(request);
      // A digest, so that the size of the cache does not depend on the requests.
      const key = createHash('sha256').update(JSON.stringify(body.spec)).digest('base64');
      const known = cache.get(key);
      if (known !== undefined) return known;
      const decision = decideAccess(await reviewer.review(body, signal));
      if (decision.allowed) cache.set(key, decision, deps.allowedTtlMs);
      else if (decision.reason.length <= maxCachedReasonLength) cache.set(key, decision, deps.deniedTtlMs);
      return decision;
    },
  };
}

export function reviewOf({ user, path, verb }: AccessRequest): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: object;
} {
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      nonResourceAttributes: { path, verb },
      user: user.name,
      groups: user.groups,
      ...(user.uid !== undefined && { uid: user.uid }),
      ...(user.extra !== undefined && { extra: user.extra }),
    },
  };
}

export function decideAccess(review: unknown): Decision {
  const { allowed, denied, reason } = answer.parse(review).status;
  if (allowed && denied) throw new AmbiguousReviewError('the response of a SubjectAccessReview both allows and denies');
  return allowed ? { allowed } : { allowed: false, reason, ...(denied && { denied }) };
}

/** A response that cannot be obeyed. Nobody is allowed by it. */
class AmbiguousReviewError extends Error {
  override readonly name = 'AmbiguousReviewError';
  readonly reason = 'AmbiguousReview';
}
