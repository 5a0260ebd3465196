import { autoscalerRules } from './autoscalers.ts';
import { csiDriverRules, csiNodeRules, volumeAttachmentRules } from './attachments.ts';
import { ownValue } from '../../api/index.ts';
import { certificateRequestRules } from './certificate-requests.ts';
import { namespaceRules, nodeRules } from './cluster.ts';
import { configMapRules, secretRules } from './config-maps.ts';
import { controllerRevisionRules, daemonSetRules } from './daemon-sets.ts';
import { definitionRules } from './definitions.ts';
import { cronJobRules, jobRules } from './jobs.ts';
import {
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
import { resourceQuotaRules } from './quotas.ts';
import { resourceClaimRules, resourceClaimTemplateRules, resourceSliceRules } from './resource-claims.ts';
import type { Rules } from './rules.ts';
import { serviceRules } from './services.ts';
import { statefulSetRules } from './stateful-sets.ts';
import { persistentVolumeClaimRules, persistentVolumeRules, volumeAttributesClassRules } from './volumes.ts';
import { deploymentRules, replicaSetRules, replicationControllerRules } from './workloads.ts';

export { validateMetadata, validateMetadataUpdate } from './metadata.ts';
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
  resourcequotas: resourceQuotaRules,
  namespaces: namespaceRules,
  nodes: nodeRules,
  persistentvolumes: persistentVolumeRules,
  persistentvolumeclaims: persistentVolumeClaimRules,
  replicationcontrollers: replicationControllerRules,
  'deployments.apps': deploymentRules,
  'replicasets.apps': replicaSetRules,
  'daemonsets.apps': daemonSetRules,
  'statefulsets.apps': statefulSetRules,
  'controllerrevisions.apps': controllerRevisionRules,
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
  'volumeattributesclasses.storage.k8s.io': volumeAttributesClassRules,
  'volumeattachments.storage.k8s.io': volumeAttachmentRules,
  'csidrivers.storage.k8s.io': csiDriverRules,
  'csinodes.storage.k8s.io': csiNodeRules,
  'priorityclasses.scheduling.k8s.io': priorityClassRules,
  'horizontalpodautoscalers.autoscaling': autoscalerRules,
  'certificatesigningrequests.certificates.k8s.io': certificateRequestRules,
  'deviceclasses.resource.k8s.io': withGeneration,
  'resourceclaims.resource.k8s.io': resourceClaimRules,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplateRules,
  'resourceslices.resource.k8s.io': resourceSliceRules,
  'customresourcedefinitions.apiextensions.k8s.io': definitionRules,
};

const plain: Rules = {};

/** The rules of the objects stored under this name. */
export function rulesOf(storage: string, isCustom: boolean): Rules {
  return isCustom ? withGeneration : (ownValue(rules, storage) ?? plain);
}
