import { readFile } from 'node:fs/promises';

import { CORE_SCHEMA, load } from 'js-yaml';
import * as z from 'zod';

import { tokenController } from './controller-selection.ts';
import { exitCodes, StartupError } from './exit-codes.ts';

/** Which component runs which controllers while they migrate from one to another. */
export interface LeaderMigration {
  /** The lease that a component holds while it runs controllers that migrate. */
  readonly leaderName: string;
  readonly controllerLeaders: readonly ControllerLeader[];
}

interface ControllerLeader {
  /** A name of a controller. Aliases do not count, as in Go. */
  readonly name: string;
  /** `*`: each component that has the controller runs it while it holds the lease. */
  readonly component: string;
}

/** As in Go 1.36, whose first two names are older than those of the controllers themselves. */
const defaultMigration: LeaderMigration = {
  leaderName: 'cloud-provider-extraction-migration',
  controllerLeaders: ['route-controller', 'service-controller', 'cloud-node-lifecycle-controller'].map((name) => ({
    name,
    component: '*',
  })),
};

/** Reads the file, or returns the default if the path is empty. Throws a `StartupError` that names the file and the field. */
export async function readLeaderMigration(path: string): Promise<LeaderMigration> {
  if (path === '') return defaultMigration;
  const flag = '--leader-migration-config';
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(exitCodes.environment, `${flag}: cannot read the file: ${why}`, { cause: error });
  });
  try {
    return parseLeaderMigration(load(text, { schema: CORE_SCHEMA }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(exitCodes.usage, `${flag} ${path}: ${why.split('\n', 1)[0] ?? ''}`, { cause: error });
  }
}

const group = 'controllermanager.config.k8s.io';
const required = z.string().min(1, 'must not be empty');
const common = {
  kind: z.literal('LeaderMigrationConfiguration'),
  leaderName: required,
  controllerLeaders: z.array(z.strictObject({ name: required, component: required })).nullish(),
};
// Go also takes "endpoints" from the file, and exits when it would acquire that lock.
const resourceLock = z.literal('leases');
const schema = z.discriminatedUnion('apiVersion', [
  z.strictObject({ apiVersion: z.literal(`${group}/v1`), ...common }),
  z.strictObject({ apiVersion: z.literal(`${group}/v1beta1`), ...common, resourceLock }),
  z.strictObject({ apiVersion: z.literal(`${group}/v1alpha1`), ...common, resourceLock }),
]);

/** Throws a `LeaderMigrationError` whose message starts with the path of the field. */
export function parseLeaderMigration(content: unknown): LeaderMigration {
  const result = schema.safeParse(content);
  if (result.success) {
    return { leaderName: result.data.leaderName, controllerLeaders: result.data.controllerLeaders ?? [] };
  }
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new LeaderMigrationError(path === '' ? (issue?.message ?? '') : `${path}: ${issue?.message ?? ''}`);
}

/** A field of the file is unknown or wrong. */
class LeaderMigrationError extends Error {
  override readonly name = 'LeaderMigrationError';
  readonly reason = 'BadLeaderMigration';
}

/** `main`: run with the lease of this program. `migrated`: with that of the migration. `unowned`: in another component. */
export type Place = 'main' | 'migrated' | 'unowned';

/** If a controller is listed more than once, its last entry counts, as in Go. */
export function placeController({ controllerLeaders }: LeaderMigration, name: string): Place {
  // Other controllers may need its tokens, so it never waits for the second lease.
  if (name === tokenController) return 'main';
  const entry = controllerLeaders.findLast((leader) => leader.name === name);
  if (entry === undefined) return 'main';
  return entry.component === '*' || entry.component === 'kube-controller-manager' ? 'migrated' : 'unowned';
}
