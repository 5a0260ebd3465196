import { ClusterRoles, keyOf, type Cached, type ClusterRole, type ObjectKey } from '../../pkg/api/index.ts';
import {
  enqueueMapped,
  PendingWrites,
  runWorkers,
  selectorOrNone,
  usableSelector,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineIndex } from '../../informers/index.ts';
import { compileAggregation, computeRules, hasRules, roleSelectors } from './aggregate.ts';
import { applyRules } from './apply.ts';

const name = 'clusterrole-aggregation-controller';

/** The Go binary has no flag for this either. */
const workers = 5;

/** The roles that aggregate others. A cluster has a handful, among many roles. */
const aggregating = 'true';
const byAggregation = defineIndex<ClusterRole>('aggregates', (role) =>
  roleSelectors(role).length > 0 ? [aggregating] : [],
);

/** Keeps the rules of roles with an `aggregationRule` equal to the rules of the roles that they select. */
export function createClusterRoleAggregation(context: ControllerContext): Controller {
  const client = context.clientFor(name);
  const queue = context.queueFor('ClusterRoleAggregator');
  const roles = context.informers.informerFor(ClusterRoles);
  const pending = new PendingWrites<ClusterRole>(roles, context.clock);
  roles.addIndex(byAggregation);
  const handlers = roles.addHandler(enqueueMapped<ClusterRole>(queue, concernedBy));

  /** The role itself, if it aggregates, and every role that aggregates it. */
  function concernedBy(changed: Cached<ClusterRole>): ObjectKey[] {
    const aggregators = roles.store.byIndex(byAggregation, aggregating);
    return aggregators
      .filter((role) => role.metadata.name === changed.metadata.name || selects(role, changed))
      .map(keyOf);
  }

  function selects(role: Cached<ClusterRole>, { metadata }: Cached<ClusterRole>): boolean {
    return selectorOrNone(() => compileAggregation(role))(metadata.labels);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const role = roles.store.get(key);
    if (role === undefined || roleSelectors(role).length === 0) return {};
    const isCandidate = usableSelector(ClusterRoles, role, () => compileAggregation(role));
    // Selectors are free in what they select, and a cluster has some hundred roles that rarely change: no index is worth it.
    const candidates = roles.store.list().filter(({ metadata }) => isCandidate(metadata.labels));
    const rules = computeRules({ role, candidates });
    if (!hasRules(role, rules)) await applyRules(role, rules, { client, pending }, signal);
    return {};
  }

  const care = { primary: roles.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [roles, handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
