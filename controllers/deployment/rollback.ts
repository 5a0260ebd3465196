import { copyOf, parseInt64, type Cached, type Deployment } from '../../pkg/api/index.ts';
import { lastRevision, revisionOf, rollbackAnnotation, rolledBackAnnotations } from './history.ts';
import type { Action } from './plan.ts';
import { hasTemplate, withoutHash, type AnySet } from './replica-sets.ts';

/** The revision in the deprecated rollback annotation: 0 means the previous one; undefined if it is not set. */
export function rollbackTarget(deployment: Cached<Deployment>): bigint | undefined {
  return parseInt64(deployment.metadata.annotations?.[rollbackAnnotation]);
}

/** Rolls back to the template of an earlier revision. Only old clients use the annotation: `kubectl` does this itself. */
export function planRollback(
  deployment: Cached<Deployment>,
  target: bigint,
  sets: readonly AnySet[],
): readonly Action[] {
  const revision = target === 0n ? lastRevision(sets) : target;
  const { name } = deployment.metadata;
  const { [rollbackAnnotation]: _asked, ...annotations } = deployment.metadata.annotations ?? {};
  const cleared = { ...deployment, metadata: { ...deployment.metadata, annotations } };
  const refuse = (reason: string, message: string): readonly Action[] => [
    { kind: 'event', event: { type: 'Warning', reason, message } },
    { kind: 'updateDeployment', deployment: cleared },
  ];
  if (revision === 0n) return refuse('DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const set = sets.find((candidate) => revisionOf(candidate) === revision);
  if (set?.spec.template === undefined) {
    return refuse('DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  }
  if (hasTemplate(set, deployment.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    return refuse('DeploymentRollbackTemplateUnchanged', message);
  }
  const rolledBack: Cached<Deployment> = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: rolledBackAnnotations(deployment, set) },
    spec: { ...deployment.spec, template: copyOf(withoutHash(set.spec.template)) },
  };
  const message = `Rolled back deployment "${name}" to revision ${revision}`;
  return [
    {
      kind: 'updateDeployment',
      deployment: rolledBack,
      event: { type: 'Normal', reason: 'DeploymentRollback', message },
    },
  ];
}
