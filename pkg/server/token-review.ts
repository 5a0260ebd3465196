import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Client } from '../client/index.ts';
import type { Clock } from '../time/index.ts';
import type { Proof } from './authentication.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { createReviewer } from './review.ts';

const path = '/apis/authentication.k8s.io/v1/tokenreviews';
// One token per node and namespace of the largest supported cluster.
const maxEntries = 32_768;

const answer = z.object({
  status: z.object({
    authenticated: z.boolean().default(false),
    error: z.string().default(''),
    user: z
      .object({
        username: z.string().default(''),
        uid: z.string().optional(),
        groups: z.array(z.string()).default([]),
        extra: z.record(z.string(), z.array(z.string())).optional(),
      })
      .optional(),
  }),
});

export interface TokenReviewDeps {
  readonly client: Pick<Client, 'request'>;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Ends all reviews. Requests with the same token share a review, so the abort of one request does not end it. */
  readonly signal: AbortSignal;
}

/** Authenticates tokens with TokenReviews. Caches the results by a digest of the token, never by the token itself. */
export function createTokenReview({
  client,
  clock,
  ttlMs,
  signal,
}: TokenReviewDeps): (token: string) => Promise<Proof> {
  const cache = new ExpiringCache<Proof>(clock, maxEntries);
  const underway = new Map<string, Promise<Proof>>();
  const secret = randomBytes(32);
  const reviewer = createReviewer({ client, clock, path });

  async function ask(key: string, token: string): Promise<Proof> {
    try {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
      const review = decideToken(await reviewer.review(body, signal));
      if (review.cacheable) cache.set(key, review.proof, ttlMs);
      return review.proof;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { kind: 'wrong', problem: `token review: ${problem}` };
    } finally {
      underway.delete(key);
    }
  }

  return (token) => {
    const key = createHmac('sha256', secret).update(token).digest('base64');
    const known = cache.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const running = underway.get(key) ?? ask(key, token);
    underway.set(key, running);
    return running;
  };
}

/** Reads the status of a review. A status with an error is not cached, because the error may be temporary. */
export function decideToken(review: unknown): { readonly proof: Proof; readonly cacheable: boolean } {
  const { status } = answer.parse(review);
  if (!status.authenticated || status.user === undefined) {
    const problem = status.error === '' ? 'invalid bearer token' : status.error;
    return { proof: { kind: 'wrong', problem: `token review: ${problem}` }, cacheable: status.error === '' };
  }
  const { username, ...rest } = status.user;
  return { proof: { kind: 'user', user: { name: username, ...rest } }, cacheable: true };
}
