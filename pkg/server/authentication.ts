import type { Clock } from '../time/index.ts';
import { commonNameOf, findChainProblem, findSubjectProblem, selectCertificateUser } from './client-certificate.ts';
import type { CertificatePool, PresentedCertificates } from './client-certificate.ts';
import { selectHeaderUser } from './request-header.ts';
import type { FrontProxies, Headers } from './request-header.ts';
import { anonymous, withAuthenticatedGroup } from './user.ts';
import type { User } from './user.ts';

/** The current CAs for clients. */
export interface Trust {
  /** The CAs of users' certificates. If absent, client certificates are ignored. */
  readonly users?: CertificatePool | undefined;
  /** If absent, no front proxy may set the user. */
  readonly proxies?: FrontProxies | undefined;
}

/** The credentials of a request. */
export interface Credentials {
  readonly headers: Headers;
  readonly certificates?: PresentedCertificates | undefined;
  /** Why the handshake rejected the certificate, if it did. */
  readonly handshakeProblem?: string | undefined;
}

export type Authentication =
  | { readonly kind: 'known'; readonly user: User }
  | { readonly kind: 'rejected'; readonly problems: readonly string[] };

/** The result of one authenticator: no credentials, a user, or wrong credentials. */
export type Proof =
  | { readonly kind: 'none' }
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'wrong'; readonly problem: string };

const none: Proof = { kind: 'none' };

export interface Authenticator {
  /** Rejects only when the signal aborts. */
  authenticate(credentials: Credentials, signal: AbortSignal): Promise<Authentication>;
}

export function createAuthenticator(deps: {
  readonly trust: () => Trust;
  readonly clock: Clock;
  /** If absent, bearer tokens are ignored. */
  readonly checkToken?: ((token: string, signal: AbortSignal) => Promise<Proof>) | undefined;
}): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const nowMs = deps.clock.now();
      const proofs = [
        proveByProxy(credentials, deps.trust(), nowMs),
        proveByCertificate(credentials, deps.trust(), nowMs),
      ];
      const token = bearerToken(credentials.headers);
      const isProved = proofs.some(({ kind }) => kind === 'user');
      if (token !== undefined && deps.checkToken !== undefined && !isProved) {
        proofs.push(await deps.checkToken(token, signal));
      }
      return decideIdentity(proofs);
    },
  };
}

/**
 * The first valid credentials decide. A request with only wrong credentials is unauthorized, not anonymous: its sender
 * would mistake the anonymous response for its own.
 */
export function decideIdentity(proofs: readonly Proof[]): Authentication {
  const proved = proofs.find((proof) => proof.kind === 'user');
  if (proved !== undefined) return { kind: 'known', user: withAuthenticatedGroup(proved.user) };
  const problems = proofs.flatMap((proof) => (proof.kind === 'wrong' ? [proof.problem] : []));
  return problems.length > 0 ? { kind: 'rejected', problems } : { kind: 'known', user: anonymous };
}

/** A front proxy authenticates with its own certificate and sets the user in headers. */
export function proveByProxy({ certificates, ...rest }: Credentials, { proxies }: Trust, nowMs: number): Proof {
  if (certificates === undefined || proxies === undefined) return none;
  const problem = rest.handshakeProblem ?? findChainProblem(certificates, proxies.authorities, nowMs);
  if (problem !== undefined) return { kind: 'wrong', problem: `front proxy: ${problem}` };
  const name = commonNameOf(certificates.leaf);
  if (proxies.allowedNames.length > 0 && !proxies.allowedNames.includes(name)) {
    return { kind: 'wrong', problem: `front proxy: ${JSON.stringify(name)} is not among the allowed names` };
  }
  const user = selectHeaderUser(rest.headers, proxies);
  return user === undefined ? none : { kind: 'user', user };
}

export function proveByCertificate({ certificates, ...rest }: Credentials, { users }: Trust, nowMs: number): Proof {
  if (certificates === undefined || users === undefined) return none;
  const problem = rest.handshakeProblem ?? findChainProblem(certificates, users, nowMs);
  if (problem !== undefined) return { kind: 'wrong', problem: `client certificate: ${problem}` };
  const user = selectCertificateUser(certificates.leaf);
  if (user === undefined) return none;
  const subjectProblem = findSubjectProblem(certificates.leaf);
  return subjectProblem === undefined
    ? { kind: 'user', user }
    : { kind: 'wrong', problem: `client certificate: ${subjectProblem}` };
}

export function bearerToken(headers: Headers): string | undefined {
  const [scheme, token] = (headers['authorization']?.[0] ?? '').trim().split(' ');
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' ? token : undefined;
}
