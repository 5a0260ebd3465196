import { runAll } from '../controller/index.ts';
import type { LeaderElector } from '../leaderelection/index.ts';
import { lead, type LeadDeps } from './lead.ts';
import type { MigrationSettings } from './options.ts';

/** What a manager does while it holds its lease: its controllers, and the candidacy for a second lease if there is one. */
export interface Term {
  readonly leadDeps: LeadDeps;
  readonly main: LeaderElector;
  readonly second?: { readonly settings: MigrationSettings; readonly elector: LeaderElector } | undefined;
  /** Called if the second lease is lost: nothing may finish its work then. */
  readonly onLost: (lost: AbortSignal) => void;
}

/**
 * The process becomes a candidate for the second lease only while it holds the first, so that not one process leads with
 * one and another process with the other. If one of the two leases is lost, all controllers stop.
 */
export async function leadTerm({ leadDeps, main, second, onLost }: Term, signal: AbortSignal): Promise<void> {
  const guarded: LeadDeps = { ...leadDeps, guard: main.confirmLease };
  if (second === undefined) return lead(guarded, signal);
  const { elector, settings } = second;
  const { logger, controllers } = leadDeps;
  const needsSecond = ({ name }: LeadDeps['controllers'][number]): boolean => settings.controllers.has(name);
  const migrated: LeadDeps = {
    ...leadDeps,
    guard: elector.confirmLease,
    controllers: controllers.filter(needsSecond),
    logger: logger.child({ lease: settings.name }),
    syncCheck: `informer-sync-${settings.name}`,
    onLeading: undefined,
  };
  return runAll(
    [
      (until) => lead({ ...guarded, controllers: controllers.filter((each) => !needsSecond(each)) }, until),
      (until) =>
        elector.run((leading, lost) => {
          onLost(lost);
          return lead(migrated, leading);
        }, until),
    ],
    signal,
  );
}
