import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

import { formatTime, objectKey, isBeingDeleted, type ObjectKey } from '../../api/index.ts';
import { Failure } from '../failure.ts';
import { isFields } from '../schema/index.ts';
import type { Store } from '../storage/index.ts';
import type { TokenSigner } from './tokens.ts';
import type { User } from './user.ts';

const lastUsed = 'kubernetes.io/legacy-token-last-used';

export interface AuthDeps {
  readonly store: Store;
  readonly tokens: TokenSigner;
  readonly nowMs: () => number;
}

/**
 * Authenticates a request by token or certificate. There is no authorization: an authenticated user may do everything.
 */
export class Authenticator {
  readonly #deps: AuthDeps;
  /** By connection: the certificate of a connection cannot change. */
  readonly #byCertificate = new WeakMap<TLSSocket, User>();

  constructor(deps: AuthDeps) {
    this.#deps = deps;
  }

  /** Throws 401. */
  async authenticate(request: IncomingMessage): Promise<User> {
    const header = request.headers.authorization;
    const user = header === undefined ? this.#certificateUser(request) : await this.#bearerUser(header);
    if (user === undefined) throw new Failure(401, 'Unauthorized', 'Unauthorized');
    return impersonated(request) ?? user;
  }

  /** The user of a token. Undefined if the token is not valid, or if its service account no longer exists. */
  async tokenUser(token: string): Promise<User | undefined> {
    const subject = await this.#deps.tokens.read(token, this.#deps.nowMs());
    if (subject === undefined) return undefined;
    const { namespace, serviceAccount, boundTo, secret } = subject;
    if (secret !== undefined && !this.#isInSecret(token, objectKey(namespace, secret))) return undefined;
    const account = this.#deps.store.get('serviceaccounts', objectKey(namespace, serviceAccount.name));
    if (account?.object.metadata.uid !== serviceAccount.uid) return undefined;
    if (boundTo !== undefined) {
      const storage = boundTo.kind === 'Pod' ? 'pods' : 'secrets';
      const bound = this.#deps.store.get(storage, objectKey(namespace, boundTo.name));
      if (bound?.object.metadata.uid !== boundTo.uid) return undefined;
    }
    return {
      username: `system:serviceaccount:${namespace}:${serviceAccount.name}`,
      uid: serviceAccount.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    };
  }

  /** Records the use of the token too: a controller deletes Secrets that are not used. */
  #isInSecret(token: string, key: ObjectKey): boolean {
    const { store, nowMs } = this.#deps;
    const secret = store.get('secrets', key)?.object;
    const data = isFields(secret?.['data']) ? secret['data'] : {};
    const isHeld = typeof data['token'] === 'string' && Buffer.from(data['token'], 'base64').toString() === token;
    if (secret === undefined || !isHeld || isBeingDeleted(secret.metadata)) return false;
    const { labels } = secret.metadata;
    if (labels?.['kubernetes.io/legacy-token-invalid-since'] !== undefined) return false;
    const today = formatTime(nowMs()).slice(0, 10);
    if (labels?.[lastUsed] !== today) {
      store.put('secrets', key, {
        ...secret,
        metadata: { ...secret.metadata, labels: { ...labels, [lastUsed]: today } },
      });
    }
    return true;
  }

  async #bearerUser(header: string): Promise<User | undefined> {
    const token = /^bearer\s+(\S+)$/i.exec(header)?.[1];
    return token === undefined ? undefined : this.tokenUser(token);
  }

  #certificateUser({ socket }: IncomingMessage): User | undefined {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
    const known = this.#byCertificate.get(socket);
    if (known !== undefined) return known;
    const certificate = socket.getPeerX509Certificate();
    const user = certificate === undefined ? undefined : userOf(certificate);
    if (user !== undefined) this.#byCertificate.set(socket, user);
    return user;
  }
}

function userOf(certificate: X509Certificate): User | undefined {
  const subject: Partial<Record<string, string | string[]>> = { ...certificate.toLegacyObject().subject };
  const valuesOf = (name: 'CN' | 'O'): string[] => [subject[name] ?? []].flat();
  const username = valuesOf('CN').at(-1);
  return username === undefined ? undefined : { username, groups: [...valuesOf('O'), 'system:authenticated'] };
}

function impersonated({ headers }: IncomingMessage): User | undefined {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string' || username === '') return undefined;
  const groups = headers['impersonate-group'];
  const given = typeof groups === 'string' ? groups.split(/,\s*/) : (groups ?? []);
  return { username, groups: [...given, 'system:authenticated'] };
}
