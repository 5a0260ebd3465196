import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as z from 'zod';

/** What the API server wrote down about one request. */
export interface AuditedRequest {
  /** Without the prefix of service accounts in kube-system. */
  readonly account: string;
  /** As roles put it: `create apps/deployments`, `update pods/status`, `get /healthz`. */
  readonly action: string;
  readonly isAllowed: boolean;
  /** The role that allowed it; empty when something else did, or nothing. */
  readonly role: string;
}

export interface AuditLog {
  /** For the API server. */
  readonly flags: readonly string[];
  /** The requests so far of the service accounts in kube-system. */
  read(): readonly AuditedRequest[];
  /** Removes its files. */
  remove(): void;
}

const group = 'system:serviceaccounts:kube-system';
const accountPrefix = 'system:serviceaccount:kube-system:';

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'], // before anything is decided
  rules: [{ level: 'Metadata', userGroups: [group] }, { level: 'None' }],
};

const entry = z.object({
  verb: z.string(),
  requestURI: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z
    .object({ apiGroup: z.string().default(''), resource: z.string(), subresource: z.string().optional() })
    .optional(),
  annotations: z.record(z.string(), z.string()).default({}),
});

/** Has the API server write down who asked for what, and which role let them. */
export function createAuditLog(): AuditLog {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'));
  const policyFile = join(directory, 'policy.json');
  const logFile = join(directory, 'audit.log');
  writeFileSync(policyFile, JSON.stringify(policy));
  return {
    flags: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`],
    read() {
      const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => requestOf(entry.parse(JSON.parse(line))));
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

function requestOf({ verb, requestURI, user, objectRef, annotations }: z.output<typeof entry>): AuditedRequest {
  return {
    account: user.username.replace(accountPrefix, ''),
    action: `${verb} ${objectRef === undefined ? new URL(requestURI, 'https://server').pathname : resourceOf(objectRef)}`,
    isAllowed: annotations['authorization.k8s.io/decision'] === 'allow',
    role: / of (?:Cluster)?Role "([^"]+)"/.exec(annotations['authorization.k8s.io/reason'] ?? '')?.[1] ?? '',
  };
}

function resourceOf({ apiGroup, resource, subresource }: NonNullable<z.output<typeof entry>['objectRef']>): string {
  return [apiGroup, resource, subresource ?? ''].filter((part) => part !== '').join('/');
}
