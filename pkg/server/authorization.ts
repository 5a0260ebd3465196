import * as z from 'zod';
import type { Client } from '../client/index.ts';
import type { Clock } from '../time/index.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { compileOpenPaths } from './paths.ts';
import { postReview } from './review.ts';
import type { User } from './user.ts';

export interface AccessRequest {
  readonly user: User;
  readonly path: string;
  /** The method in lower case. */
  readonly verb: string;
}

export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export interface Authorizer {
  /** Rejects when the API server cannot be asked. */
  authorize(request: AccessRequest, signal: AbortSignal): Promise<Decision>;
}

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const maxEntries = 8192;
// What a stranger can make us remember is bounded: a longer path than this is asked about each time.
const maxCachedLength = 10_000;

const answer = z.object({
  status: z.object({
    allowed: z.boolean().default(false),
    denied: z.boolean().default(false),
    reason: z.string().default(''),
  }),
});

/** Who may see what: administrators all, everyone the open paths, others what the API server says. */
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
  return {
    async authorize(request, signal) {
      const { user } = request;
      // The API server lets this group do everything without asking anyone; so does it spare us the question.
      if (user.groups.includes('system:masters') || isOpen(request.path)) return { allowed: true };
      if (client === undefined) return { allowed: false, reason: '' };
      const body = reviewOf(request);
      const key = JSON.stringify(body.spec);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const decision = decideAccess(await postReview({ client, clock }, { path, body }, signal));
      if (request.path.length + request.verb.length < maxCachedLength) {
        cache.set(key, decision, decision.allowed ? deps.allowedTtlMs : deps.deniedTtlMs);
      }
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
  if (allowed && denied) throw new Error('subject access review answered both allow and deny');
  return allowed ? { allowed } : { allowed: false, reason };
}
