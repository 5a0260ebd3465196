import {
  int64Of,
  splitApiVersion,
  ValidatingAdmissionPolicies,
  type Cached,
  type ObjectKey,
  type ValidatingAdmissionPolicy,
} from '../../pkg/api/index.ts';
import {
  enqueueSelf,
  findServed,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { applyStatus } from './apply.ts';
import type { CheckedKind, PolicyTypes } from './check-policy.ts';
import { selectKinds } from './match-kinds.ts';
import { KindTypes } from './schemas.ts';

const name = 'validatingadmissionpolicy-status-controller';

/** Checks the expressions of policies for fields that do not exist, and reports them in the status. */
export function createPolicyStatusController(
  context: ControllerContext,
  { workers }: { readonly workers: number },
): Controller {
  const client = context.clientFor(name);
  const queue = context.queueFor('validatingadmissionpolicy-status');

  async function check(signal: AbortSignal): Promise<void> {
    const policies = context.informers.informerFor(ValidatingAdmissionPolicies);
    const caches = [policies, policies.addHandler(enqueueSelf(queue))];
    const reconcile = async (key: ObjectKey, abandon: AbortSignal): Promise<ReconcileResult> => {
      const policy = policies.store.get(key);
      if (policy === undefined || !isUnchecked(policy)) return {};
      await context.discovery.refresh(abandon); // a policy is often created together with the kind that it is about
      const types = await resolveTypes(policy, context, client, abandon);
      const { checkPolicy } = await import('./check-policy.ts'); // few clusters have policies, and need its parser
      await applyStatus(policy, checkPolicy(policy.spec ?? {}, types), client, abandon);
      return {};
    };
    await runWorkers({ name, context, queue, reconcile, caches, workers, primary: policies.store }, signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    const served = await findServed(context.discovery, [ValidatingAdmissionPolicies], signal);
    if (served !== undefined) return check(signal);
    context.logger.info({}, 'ValidatingAdmissionPolicies are not served: nothing is checked');
  }

  return { name, run };
}

function isUnchecked({ metadata, status }: Cached<ValidatingAdmissionPolicy>): boolean {
  return int64Of(metadata.generation) > int64Of(status?.observedGeneration);
}

async function resolveTypes(
  { spec }: Cached<ValidatingAdmissionPolicy>,
  { discovery, logger }: ControllerContext,
  client: Client,
  signal: AbortSignal,
): Promise<PolicyTypes> {
  const { resources } = await discovery.all(signal);
  const found = selectKinds(
    spec?.matchConstraints?.resourceRules,
    resources.map(({ kind }) => kind),
  );
  const types = new KindTypes(client, logger);
  const kinds: CheckedKind[] = [];
  for (const kind of found) {
    const schema = await types.schemaOf(kind, signal);
    if (schema !== undefined) kinds.push({ kind, type: schema.type });
  }
  const { apiVersion = '', kind = '' } = spec?.paramKind ?? {};
  const params = kind === '' ? undefined : await types.schemaOf({ ...splitApiVersion(apiVersion), kind }, signal);
  return { kinds, params: params?.type };
}
