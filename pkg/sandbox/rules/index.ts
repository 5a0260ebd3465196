import { ownValue } from '../../api/index.ts';
import { namespaceRules, nodeRules, persistentVolumeClaimRules, persistentVolumeRules } from './cluster.ts';
import { configMapRules, secretRules } from './config-maps.ts';
import { definitionRules } from './definitions.ts';
import { cronJobRules, jobRules } from './jobs.ts';
import {
  autoscalerRules,
  endpointSliceRules,
  endpointsRules,
  leaseRules,
  networkPolicyRules,
  podDisruptionBudgetRules,
  priorityClassRules,
  roleBindingRules,
  roleRules,
  storageClassRules,
} from './others.ts';
import { podRules, podTemplateRules } from './pods.ts';
import type { Rules } from './rules.ts';
import { serviceRules } from './services.ts';
import { statefulSetRules } from './stateful-sets.ts';
import { daemonSetRules, deploymentRules, replicaSetRules, replicationControllerRules } from './workloads.ts';

export { validateMetadata, validateMetadataUpdate } from './metadata.ts';
export { labelValueProblem, qualifiedNameProblem } from './names.ts';
export { randomSuffix } from './pods.ts';
export type { Rules, WriteContext } from './rules.ts';

const withGeneration: Rules = { tracksGeneration: true };

const rules: Readonly<Record<string, Rules>> = {
  pods: podRules,
  podtemplates: podTemplateRules,
  services: serviceRules,
  endpoints: endpointsRules,
  configmaps: configMapRules,
  secrets: secretRules,
  serviceaccounts: { returnsDeleted: true },
  resourcequotas: { returnsDeleted: true },
  namespaces: namespaceRules,
  nodes: nodeRules,
  persistentvolumes: persistentVolumeRules,
  persistentvolumeclaims: persistentVolumeClaimRules,
  replicationcontrollers: replicationControllerRules,
  'deployments.apps': deploymentRules,
  'replicasets.apps': replicaSetRules,
  'daemonsets.apps': daemonSetRules,
  'statefulsets.apps': statefulSetRules,
  'jobs.batch': jobRules,
  'cronjobs.batch': cronJobRules,
  'endpointslices.discovery.k8s.io': endpointSliceRules,
  'leases.coordination.k8s.io': leaseRules,
  'poddisruptionbudgets.policy': podDisruptionBudgetRules,
  'roles.rbac.authorization.k8s.io': roleRules,
  'clusterroles.rbac.authorization.k8s.io': roleRules,
  'rolebindings.rbac.authorization.k8s.io': roleBindingRules,
  'clusterrolebindings.rbac.authorization.k8s.io': roleBindingRules,
  'networkpolicies.networking.k8s.io': networkPolicyRules,
  'ingresses.networking.k8s.io': withGeneration,
  'ingressclasses.networking.k8s.io': withGeneration,
  'storageclasses.storage.k8s.io': storageClassRules,
  'priorityclasses.scheduling.k8s.io': priorityClassRules,
  'horizontalpodautoscalers.autoscaling': autoscalerRules,
  'customresourcedefinitions.apiextensions.k8s.io': definitionRules,
};

const plain: Rules = {};

/** What is particular to the objects stored under this name. */
export function rulesOf(storage: string, isCustom: boolean): Rules {
  return isCustom ? withGeneration : (ownValue(rules, storage) ?? plain);
}
