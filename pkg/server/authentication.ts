import type { Clock } from '../time/index.ts';
import { commonNameOf, findChainProblem, findSubjectProblem, selectCertificateUser } from './client-certificate.ts';
import type { CertificatePool, PresentedCertificates } from './client-certificate.ts';
import { selectHeaderUser } from './request-header.ts';
import type { FrontProxies, Headers } from './request-header.ts';
import { anonymous, withAuthenticatedGroup } from './user.ts';
import type { User } from './user.ts';

/** Authorities in force at the moment. */
export interface Trust {
  /** Whose certificates name users; absent: certificates prove nothing. */
  readonly users?: CertificatePool | undefined;
  /** Absent: nobody may speak for others. */
  readonly proxies?: FrontProxies | undefined;
}

/** What a request brings along to prove who sent it. */
export interface Credentials {
  readonly headers: Headers;
  readonly certificates?: PresentedCertificates | undefined;
  /** Why the handshake did not accept the certificates, if it did not. */
  readonly handshakeProblem?: string | undefined;
}

export type Authentication =
  | { readonly kind: 'known'; readonly user: User }
  | { readonly kind: 'rejected'; readonly problems: readonly string[] };

/** One way to prove an identity: none offered, proved, or offered and wrong. */
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
  /** Absent: bearer tokens are not looked at. */
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
 * The first proof that holds decides. Someone who offered only wrong ones is turned away rather than served as
 * anonymous: they would take the answer for theirs.
 */
export function decideIdentity(proofs: readonly Proof[]): Authentication {
  const proved = proofs.find((proof) => proof.kind === 'user');
  if (proved !== undefined) return { kind: 'known', user: withAuthenticatedGroup(proved.user) };
  const problems = proofs.flatMap((proof) => (proof.kind === 'wrong' ? [proof.problem] : []));
  return problems.length > 0 ? { kind: 'rejected', problems } : { kind: 'known', user: anonymous };
}

/** A proxy shows its own certificate and names the user in headers. */
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
