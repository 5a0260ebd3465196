import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { knownControllers } from './known-controllers.ts';

/**
 * The controllers of kube-controller-manager 1.36: the name, `alias=`, `off` if `*` does not include it, and `+Gate` for
 * each required gate.
 */
const reference = `
  bootstrap-signer-controller alias=bootstrapsigner off
  certificatesigningrequest-approving-controller alias=csrapproving
  certificatesigningrequest-cleaner-controller alias=csrcleaner
  certificatesigningrequest-signing-controller alias=csrsigning
  cloud-node-lifecycle-controller alias=cloud-node-lifecycle
  clusterrole-aggregation-controller alias=clusterrole-aggregation
  cronjob-controller alias=cronjob
  daemonset-controller alias=daemonset
  deployment-controller alias=deployment
  device-taint-eviction-controller +DynamicResourceAllocation +DRADeviceTaints
  disruption-controller alias=disruption
  endpoints-controller alias=endpoint
  endpointslice-controller alias=endpointslice
  endpointslice-mirroring-controller alias=endpointslicemirroring
  ephemeral-volume-controller alias=ephemeral-volume
  garbage-collector-controller alias=garbagecollector
  horizontal-pod-autoscaler-controller alias=horizontalpodautoscaling
  job-controller alias=job
  kube-apiserver-serving-clustertrustbundle-publisher-controller +ClusterTrustBundle
  legacy-serviceaccount-token-cleaner-controller alias=legacy-service-account-token-cleaner
  namespace-controller alias=namespace
  node-ipam-controller alias=nodeipam
  node-lifecycle-controller alias=nodelifecycle
  node-route-controller alias=route
  persistentvolume-attach-detach-controller alias=attachdetach
  persistentvolume-binder-controller alias=persistentvolume-binder
  persistentvolume-expander-controller alias=persistentvolume-expander
  persistentvolume-protection-controller alias=pv-protection
  persistentvolumeclaim-protection-controller alias=pvc-protection
  pod-garbage-collector-controller alias=podgc
  podcertificaterequest-cleaner-controller +PodCertificateRequest
  podgroup-protection-controller +GenericWorkload
  replicaset-controller alias=replicaset
  replicationcontroller-controller alias=replicationcontroller
  resourceclaim-controller alias=resource-claim-controller +DynamicResourceAllocation
  resourcepoolstatusrequest-controller +DRAResourcePoolStatus
  resourcequota-controller alias=resourcequota
  root-ca-certificate-publisher-controller alias=root-ca-cert-publisher
  selinux-warning-controller off +SELinuxChangePolicy
  service-cidr-controller +MultiCIDRServiceAllocator
  service-lb-controller alias=service
  serviceaccount-controller alias=serviceaccount
  serviceaccount-token-controller alias=serviceaccount-token
  statefulset-controller alias=statefulset
  storage-version-migrator-controller alias=svm
  storageversion-garbage-collector-controller alias=storage-version-gc +APIServerIdentity +StorageVersionAPI
  taint-eviction-controller +SeparateTaintEvictionController
  token-cleaner-controller alias=tokencleaner off
  ttl-after-finished-controller alias=ttl-after-finished
  ttl-controller alias=ttl
  validatingadmissionpolicy-status-controller
  volumeattributesclass-protection-controller +VolumeAttributesClass
`;

describe('knownControllers', () => {
  const known = knownControllers(controllers);
  const rows = reference.trim().split('\n');

  for (const row of rows) {
    const [name = '', ...facts] = row.trim().split(' ');
    test(`${name} has the aliases, gates and default of Kubernetes`, () => {
      expect(known.find((each) => each.name === name)).toMatchObject({
        aliases: facts.filter((fact) => fact.startsWith('alias=')).map((fact) => fact.slice('alias='.length)),
        onByDefault: !facts.includes('off'),
        requiredGates: facts.filter((fact) => fact.startsWith('+')).map((fact) => fact.slice(1)),
      });
    });
  }

  test('has no controller that Kubernetes does not have', () => {
    expect(known.map(({ name }) => name).sort()).toEqual(rows.map((row) => row.trim().replace(/ .*/, '')).sort());
  });
});
