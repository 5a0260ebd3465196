import { flag } from './flag.ts';

/** Flags of the controllers that look after nodes, namespaces, volumes, accounts and certificates. */
export const serviceLbFlags = {
  'concurrent-service-syncs': flag(
    'int32',
    '1',
    'ServiceController.ConcurrentServiceSyncs',
    'Services of type LoadBalancer that may sync at once',
  ),
};

export const persistentvolumeAttachDetachFlags = {
  'attach-detach-reconcile-sync-period': flag(
    'duration',
    '1m0s',
    'AttachDetachController.ReconcilerSyncLoopPeriod',
    'How often attached volumes are compared with the nodes; at least 1s',
  ),
  'disable-attach-detach-reconcile-sync': flag(
    'bool',
    '',
    'AttachDetachController.DisableAttachDetachReconcilerSync',
    'Leave that comparison out',
  ),
  'disable-force-detach-on-timeout': flag(
    'bool',
    '',
    'AttachDetachController.disableForceDetachOnTimeout',
    'Never detach a volume by force because unmounting took too long',
  ),
};

export const certificateSigningFlags = {
  'cluster-signing-cert-file': flag(
    'string',
    '',
    'CSRSigningController.ClusterSigningCertFile',
    'CA certificate for every signer; excludes the per-signer flags',
  ),
  'cluster-signing-duration': flag(
    'duration',
    '8760h0m0s',
    'CSRSigningController.ClusterSigningDuration',
    'Longest life of a signed certificate',
  ),
  'cluster-signing-key-file': flag(
    'string',
    '',
    'CSRSigningController.ClusterSigningKeyFile',
    'CA key for every signer; excludes the per-signer flags',
  ),
  'cluster-signing-kube-apiserver-client-cert-file': flag(
    'string',
    '',
    'CSRSigningController.KubeAPIServerClientSignerConfiguration.CertFile',
    'CA certificate for kubernetes.io/kube-apiserver-client',
  ),
  'cluster-signing-kube-apiserver-client-key-file': flag(
    'string',
    '',
    'CSRSigningController.KubeAPIServerClientSignerConfiguration.KeyFile',
    'CA key for kubernetes.io/kube-apiserver-client',
  ),
  'cluster-signing-kubelet-client-cert-file': flag(
    'string',
    '',
    'CSRSigningController.KubeletClientSignerConfiguration.CertFile',
    'CA certificate for kubernetes.io/kube-apiserver-client-kubelet',
  ),
  'cluster-signing-kubelet-client-key-file': flag(
    'string',
    '',
    'CSRSigningController.KubeletClientSignerConfiguration.KeyFile',
    'CA key for kubernetes.io/kube-apiserver-client-kubelet',
  ),
  'cluster-signing-kubelet-serving-cert-file': flag(
    'string',
    '',
    'CSRSigningController.KubeletServingSignerConfiguration.CertFile',
    'CA certificate for kubernetes.io/kubelet-serving',
  ),
  'cluster-signing-kubelet-serving-key-file': flag(
    'string',
    '',
    'CSRSigningController.KubeletServingSignerConfiguration.KeyFile',
    'CA key for kubernetes.io/kubelet-serving',
  ),
  'cluster-signing-legacy-unknown-cert-file': flag(
    'string',
    '',
    'CSRSigningController.LegacyUnknownSignerConfiguration.CertFile',
    'CA certificate for kubernetes.io/legacy-unknown',
  ),
  'cluster-signing-legacy-unknown-key-file': flag(
    'string',
    '',
    'CSRSigningController.LegacyUnknownSignerConfiguration.KeyFile',
    'CA key for kubernetes.io/legacy-unknown',
  ),
};

export const deviceTaintEvictionFlags = {
  'concurrent-device-taint-eviction-syncs': flag(
    'int32',
    '8',
    'DeviceTaintEvictionController.ConcurrentSyncs',
    'Evictions that may run at once',
  ),
};

export const resourceClaimFlags = {
  'concurrent-resourceclaim-syncs': flag(
    'int32',
    '50',
    'ResourceClaimController.ConcurrentSyncs',
    'ResourceClaims that may sync at once',
  ),
};

export const ephemeralVolumeFlags = {
  'concurrent-ephemeralvolume-syncs': flag(
    'int32',
    '5',
    'EphemeralVolumeController.ConcurrentEphemeralVolumeSyncs',
    'Pods with ephemeral volumes that may sync at once',
  ),
};

export const garbageCollectorFlags = {
  'concurrent-gc-syncs': flag(
    'int32',
    '20',
    'GarbageCollectorController.ConcurrentGCSyncs',
    'Objects that may be looked at at once',
  ),
  'enable-garbage-collector': flag(
    'bool',
    'true',
    'GarbageCollectorController.EnableGarbageCollector',
    'Collect garbage; must agree with the same flag of the API server',
  ),
};

export const legacyServiceAccountTokenCleanerFlags = {
  'legacy-service-account-token-clean-up-period': flag(
    'duration',
    '8760h0m0s',
    'LegacySATokenCleaner.CleanUpPeriod',
    'A token secret unused for this long is removed',
  ),
};

export const namespaceFlags = {
  'concurrent-namespace-syncs': flag(
    'int32',
    '10',
    'NamespaceController.ConcurrentNamespaceSyncs',
    'Namespaces that may sync at once',
  ),
  'namespace-sync-period': flag(
    'duration',
    '5m0s',
    'NamespaceController.NamespaceSyncPeriod',
    'How often every namespace is looked at again',
  ),
};

export const nodeIpamFlags = {
  'node-cidr-mask-size': flag(
    'int32',
    '',
    'NodeIPAMController.NodeCIDRMaskSize',
    'Size of the range of a node: 24 for IPv4, 64 for IPv6 unless given',
  ),
  'node-cidr-mask-size-ipv4': flag(
    'int32',
    '',
    'NodeIPAMController.NodeCIDRMaskSizeIPv4',
    'The same for IPv4 in a dual-stack cluster',
  ),
  'node-cidr-mask-size-ipv6': flag(
    'int32',
    '',
    'NodeIPAMController.NodeCIDRMaskSizeIPv6',
    'The same for IPv6 in a dual-stack cluster',
  ),
  'service-cluster-ip-range': flag(
    'string',
    '',
    'NodeIPAMController.ServiceCIDR',
    'Addresses of Services, kept out of node ranges',
  ),
};

export const nodeLifecycleFlags = {
  'large-cluster-size-threshold': flag(
    'int32',
    '50',
    'NodeLifecycleController.LargeClusterSizeThreshold',
    'Up to this many nodes, evictions stop altogether in an unhealthy zone',
  ),
  'node-eviction-rate': flag(
    'float32',
    '0.1',
    'NodeLifecycleController.NodeEvictionRate',
    'Nodes per second whose pods are evicted in a healthy zone',
  ),
  'node-monitor-grace-period': flag(
    'duration',
    '50s',
    'NodeLifecycleController.NodeMonitorGracePeriod',
    'A node silent for this long is marked unhealthy',
  ),
  'node-startup-grace-period': flag(
    'duration',
    '1m0s',
    'NodeLifecycleController.NodeStartupGracePeriod',
    'The same for a node that is starting',
  ),
  'secondary-node-eviction-rate': flag(
    'float32',
    '0.01',
    'NodeLifecycleController.SecondaryNodeEvictionRate',
    'Nodes per second whose pods are evicted in an unhealthy zone',
  ),
  'unhealthy-zone-threshold': flag(
    'float32',
    '0.55',
    'NodeLifecycleController.UnhealthyZoneThreshold',
    'Part of the nodes (at least 3) that makes a zone unhealthy',
  ),
};

export const persistentVolumeBinderFlags = {
  'enable-dynamic-provisioning': flag(
    'bool',
    'true',
    'PersistentVolumeBinderController.VolumeConfiguration.EnableDynamicProvisioning',
    'Provision volumes on demand',
  ),
  'enable-hostpath-provisioner': flag(
    'bool',
    '',
    'PersistentVolumeBinderController.VolumeConfiguration.EnableHostPathProvisioning',
    'Provision host paths; for tests on one node',
  ),
  'flex-volume-plugin-dir': flag(
    'string',
    '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    'PersistentVolumeBinderController.VolumeConfiguration.FlexVolumePluginDir',
    'Where flex volume plugins are found',
  ),
  'pv-recycler-increment-timeout-nfs': flag(
    'int32',
    '30',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.IncrementTimeoutNFS',
    'Seconds per GiB added to the deadline of an NFS scrubber',
  ),
  'pv-recycler-minimum-timeout-hostpath': flag(
    'int32',
    '60',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.MinimumTimeoutHostPath',
    'Shortest deadline of a host path scrubber, in seconds',
  ),
  'pv-recycler-minimum-timeout-nfs': flag(
    'int32',
    '300',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.MinimumTimeoutNFS',
    'Shortest deadline of an NFS scrubber, in seconds',
  ),
  'pv-recycler-pod-template-filepath-hostpath': flag(
    'string',
    '',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.PodTemplateFilePathHostPath',
    'Pod template of a host path scrubber',
  ),
  'pv-recycler-pod-template-filepath-nfs': flag(
    'string',
    '',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.PodTemplateFilePathNFS',
    'Pod template of an NFS scrubber',
  ),
  'pv-recycler-timeout-increment-hostpath': flag(
    'int32',
    '30',
    'PersistentVolumeBinderController.VolumeConfiguration.PersistentVolumeRecyclerConfiguration.IncrementTimeoutHostPath',
    'Seconds per GiB added to the deadline of a host path scrubber',
  ),
  'pvclaimbinder-sync-period': flag(
    'duration',
    '15s',
    'PersistentVolumeBinderController.PVClaimBinderSyncPeriod',
    'How often volumes and claims are looked at again',
  ),
};

export const podGarbageCollectorFlags = {
  'terminated-pod-gc-threshold': flag(
    'int32',
    '12500',
    'PodGCController.TerminatedPodGCThreshold',
    'More finished pods than this are deleted, oldest first; 0 or less for never',
  ),
};

export const resourceQuotaFlags = {
  'concurrent-resource-quota-syncs': flag(
    'int32',
    '5',
    'ResourceQuotaController.ConcurrentResourceQuotaSyncs',
    'ResourceQuotas that may sync at once',
  ),
  'resource-quota-sync-period': flag(
    'duration',
    '5m0s',
    'ResourceQuotaController.ResourceQuotaSyncPeriod',
    'How often usage is counted anew',
  ),
};

export const serviceAccountFlags = {
  'concurrent-serviceaccount-token-syncs': flag(
    'int32',
    '5',
    'SAController.ConcurrentSATokenSyncs',
    'Token secrets that may sync at once',
  ),
  'root-ca-file': flag(
    'string',
    '',
    'SAController.RootCAFile',
    'Certificate authority that pods are given to know the API server by',
  ),
  'service-account-private-key-file': flag(
    'string',
    '',
    'SAController.ServiceAccountKeyFile',
    'Private key (RSA or ECDSA) that signs token secrets; without it there are none',
  ),
};

export const validatingAdmissionPolicyStatusFlags = {
  'concurrent-validating-admission-policy-status-syncs': flag(
    'int32',
    '5',
    'ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs',
    'Policies that may sync at once',
  ),
};
