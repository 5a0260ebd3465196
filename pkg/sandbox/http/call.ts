import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Authenticator, TokenSigner, User } from '../auth/index.ts';
import { methodNotAllowed } from '../failure.ts';
import type { Resource } from '../registry/index.ts';
import type { Negotiated } from './negotiate.ts';
import type { ResourcePath } from './path.ts';
import type { View } from './represent.ts';
import type { WatchDeps, WatchStream } from './watch.ts';

export interface ResourceDeps extends WatchDeps {
  readonly authenticator: Authenticator;
  readonly tokens: TokenSigner;
  /** The open watches, which end when the server stops. */
  readonly watches: Set<WatchStream>;
}

/** One parsed request for a resource. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly resource: Resource;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly negotiated: Negotiated;
  readonly dryRun: boolean;
  /** The name of the client, for the owners of fields. */
  readonly manager: string;
}

export function viewOf(deps: WatchDeps, { negotiated, query }: Call): View {
  const include = query.get('includeObject');
  const includeObject = include === 'None' || include === 'Object' ? include : 'Metadata';
  return { representation: negotiated.representation, includeObject, nowMs: deps.clock.now() };
}

export function requireVerb({ verbs }: Resource, verb: string): void {
  if (!verbs.includes(verb)) throw methodNotAllowed();
}

export function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1';
}

export function success(): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
}
