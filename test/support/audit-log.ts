import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as z from 'zod';

/** One request in the audit log of the API server. */
export interface AuditedRequest {
  /** The user name, without the prefix of service accounts in kube-system. */
  readonly account: string;
  /** As in roles: `create apps/deployments`, `update pods/status`, `get /healthz`. */
  readonly action: string;
  readonly isAllowed: boolean;
  /** The role that allowed the request. Empty if no role did. */
  readonly role: string;
  /** When the server received it: RFC 3339 with microseconds, so that later is greater. */
  readonly receivedAt: string;
  /** The HTTP status of the response. */
  readonly status: number;
}

export interface AuditLog {
  /** For the API server. */
  readonly flags: readonly string[];
  /** The requests so far of the users that are audited, in the order in which they were answered. */
  read(): readonly AuditedRequest[];
  /** Removes its files. */
  remove(): void;
}

export interface AuditScope {
  /** Users in this group are audited; default the service accounts of kube-system. */
  readonly group?: string;
  /** Default: all. */
  readonly verbs?: readonly string[];
}

const accountPrefix = 'system:serviceaccount:kube-system:';

const entry = z.object({
  verb: z.string(),
  requestURI: z.string(),
  requestReceivedTimestamp: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z
    .object({ apiGroup: z.string().default(''), resource: z.string(), subresource: z.string().optional() })
    .optional(),
  responseStatus: z.object({ code: z.number().default(0) }).default({ code: 0 }),
  annotations: z.record(z.string(), z.string()).default({}),
});

/** Audits the requests of the API server: the user, the request and the role that allowed it. */
export function createAuditLog(scope: AuditScope = {}): AuditLog {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'));
  const policyFile = join(directory, 'policy.json');
  const logFile = join(directory, 'audit.log');
  writeFileSync(policyFile, JSON.stringify(policyFor(scope)));
  return {
    flags: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`],
    read() {
      const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => requestOf(entry.parse(JSON.parse(line))));
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

function policyFor({ group = 'system:serviceaccounts:kube-system', verbs }: AuditScope): unknown {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'], // before authorization
    rules: [{ level: 'Metadata', userGroups: [group], verbs }, { level: 'None' }],
  };
}

function requestOf(audited: z.output<typeof entry>): AuditedRequest {
  const { verb, requestURI, user, objectRef, annotations } = audited;
  return {
    account: user.username.replace(accountPrefix, ''),
    action: `${verb} ${objectRef === undefined ? new URL(requestURI, 'https://server').pathname : resourceOf(objectRef)}`,
    isAllowed: annotations['authorization.k8s.io/decision'] === 'allow',
    role: / of (?:Cluster)?Role "([^"]+)"/.exec(annotations['authorization.k8s.io/reason'] ?? '')?.[1] ?? '',
    receivedAt: audited.requestReceivedTimestamp,
    status: audited.responseStatus.code,
  };
}

function resourceOf({ apiGroup, resource, subresource }: NonNullable<z.output<typeof entry>['objectRef']>): string {
  return [apiGroup, resource, subresource ?? ''].filter((part) => part !== '').join('/');
}
