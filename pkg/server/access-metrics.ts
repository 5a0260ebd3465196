import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../metrics/index.ts';
import type { Clock } from '../time/index.ts';
import type { Authentication, Authenticator } from './authentication.ts';
import type { Authorizer, Decision } from './authorization.ts';

/** Told about every request: how it was authenticated and authorized, and how long that took. */
export interface AccessObserver {
  authenticated(identity: Authentication, seconds: number): void;
  authorized(decision: Decision | 'error', seconds: number): void;
}

const buckets = exponentialBuckets(0.001, 2, 15);

/** The metrics of authentication and authorization. Series exist, at zero, from the start. */
export function createAccessMetrics(registry: MetricsRegistry): AccessObserver {
  const users = defineCounter(registry, {
    name: 'authenticated_user_requests',
    help: 'Authenticated requests, by a few well-known user names.',
    labels: ['username'],
  });
  const observe = (of: string, attempts: string, results: readonly string[]): ((r: string, s: number) => void) => {
    const help = `${of} of requests, by result.`;
    const counter = defineCounter(registry, { name: attempts, help: `Attempts at the ${help}`, labels: ['result'] });
    const name = `${of}_duration_seconds`;
    const histogram = defineHistogram(registry, { name, help: `Duration of the ${help}`, labels: ['result'], buckets });
    for (const result of results) {
      counter.with({ result });
      histogram.with({ result });
    }
    return (result, seconds) => {
      counter.with({ result }).inc();
      histogram.with({ result }).observe(seconds);
    };
  };
  const authentications = observe('authentication', 'authentication_attempts', ['success', 'error']);
  const authorizations = observe('authorization', 'authorization_attempts_total', ['allowed', 'no-opinion', 'error']);
  users.with({ username: 'other' });
  return {
    authenticated(identity, seconds) {
      authentications(identity.kind === 'known' ? 'success' : 'error', seconds);
      if (identity.kind === 'known') users.with({ username: compressName(identity.user.name) }).inc();
    },
    authorized: (decision, seconds) => authorizations(resultOf(decision), seconds),
  };
}

function resultOf(decision: Decision | 'error'): string {
  if (decision === 'error') return 'error';
  if (decision.allowed) return 'allowed';
  return decision.denied === true ? 'denied' : 'no-opinion';
}

const wellKnown = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** A metric must have neither the names of users nor a series for each. */
export function compressName(name: string): string {
  if (wellKnown.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}

export function observeAuthenticator(
  authenticator: Authenticator,
  observer: AccessObserver,
  clock: Pick<Clock, 'monotonic'>,
): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const startMs = clock.monotonic();
      const identity = await authenticator.authenticate(credentials, signal);
      observer.authenticated(identity, (clock.monotonic() - startMs) / 1000);
      return identity;
    },
  };
}

export function observeAuthorizer(
  authorizer: Authorizer,
  observer: AccessObserver,
  clock: Pick<Clock, 'monotonic'>,
): Authorizer {
  return {
    async authorize(request, signal) {
      const startMs = clock.monotonic();
      let decision: Decision | 'error' = 'error';
      try {
        decision = await authorizer.authorize(request, signal);
        return decision;
      } finally {
        if (!signal.aborted) observer.authorized(decision, (clock.monotonic() - startMs) / 1000);
      }
    },
  };
}
