export type GateStage = 'alpha' | 'beta' | 'ga' | 'deprecated';

export interface GateSpec {
  readonly stage: GateStage;
  readonly enabledByDefault: boolean;
  /** The gate cannot be changed from its default. */
  readonly locked: boolean;
}

interface GateGroup extends GateSpec {
  readonly names: string;
}

/** Every gate that kube-controller-manager 1.36 accepts, including gates of other components. */
const groups: readonly GateGroup[] = [
  {
    stage: 'alpha',
    enabledByDefault: false,
    locked: false,
    names: `
      AllowUnsafeMalformedObjectDeletion APIServingWithRoutine CBORServingAndStorage ClientsAllowCBOR
      ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
      ContainerStopSignals ControllerManagerReleaseLeaderElectionLockOnExit CPUManagerPolicyAlphaOptions
      CRIListStreaming CrossNamespaceVolumeDataSource CSIVolumeHealth DRAListTypeAttributes
      DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling
      GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
      InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
      ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
      PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
      PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
      ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
      TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
      VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
    `,
  },
  {
    stage: 'beta',
    enabledByDefault: true,
    locked: false,
    names: `
      AllowParsingUserUIDFromCertAuth APIResponseCompression APIServerIdentity AtomicFIFO
      AuthorizePodWebsocketUpgradeCreatePermission ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation
      ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerCheckpoint
      ContainerRestartRules ContextualLogging CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
      DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
      DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
      DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout EnvFiles
      ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HostnameOverride
      HPAConfigurableTolerance InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
      InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
      KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
      LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
      MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
      NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost
      PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
      PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
      ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
      RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
      SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
      StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
      StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
      StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
      StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
      TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
      UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook
      WatchList WatchListClient WindowsGracefulNodeShutdown
    `,
  },
  {
    stage: 'beta',
    enabledByDefault: false,
    locked: false,
    names: `
      ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
      DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
      PodCertificateRequest SchedulerAsyncAPICalls SELinuxMount StorageVersionMigrator
    `,
  },
  {
    stage: 'ga',
    enabledByDefault: true,
    locked: true,
    names: `
      AnonymousAuthConfigurableEndpoints AnyVolumeDataSource APIServerTracing AuthorizeNodeWithSelectors
      AuthorizeWithSelectors BtreeWatchCache ConsistentListFromCache CPUManagerPolicyOptions
      CRDValidationRatcheting CSIServiceAccountTokenSecrets CustomResourceFieldSelectors DeclarativeValidation
      DisableAllocatorDualWrite DRAAdminAccess DynamicResourceAllocation ExecProbeTimeout
      ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
      JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
      KubeletFineGrainedAuthz KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletPSI KubeletTracing
      LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
      NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
      PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking
      PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure
      RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
      ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SELinuxChangePolicy
      SELinuxMountReadWriteOncePod SeparateTaintEvictionController ServiceAccountTokenJTI
      ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
      SidecarContainers StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
      StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions
      UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
    `,
  },
  {
    stage: 'ga',
    enabledByDefault: true,
    locked: false,
    names: `
      AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
      MutatingAdmissionPolicy
    `,
  },
  {
    stage: 'deprecated',
    enabledByDefault: true,
    locked: false,
    names: `
      DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
      StorageNamespaceIndex
    `,
  },
  {
    stage: 'deprecated',
    enabledByDefault: false,
    locked: false,
    names: `
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
      DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `,
  },
  {
    stage: 'deprecated',
    enabledByDefault: true,
    locked: true,
    names: `
      AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    `,
  },
  {
    stage: 'deprecated',
    enabledByDefault: false,
    locked: true,
    names: `
      AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    `,
  },
];

export const knownGates: ReadonlyMap<string, GateSpec> = new Map(
  groups.flatMap(({ names, ...spec }) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, GateSpec] => [name, spec]),
  ),
);

/** A gate on the left may only be on while all on the right are. Dependencies on locked gates are always met. */
export const gateDependencies: Readonly<Record<string, readonly string[]>> = {
  ClusterTrustBundleProjection: ['ClusterTrustBundle'],
  DRADeviceBindingConditions: ['DRAResourceClaimDeviceStatus'],
  DRADeviceTaintRules: ['DRADeviceTaints'],
  DRAResourceClaimGranularStatusAuthorization: ['DRAResourceClaimDeviceStatus'],
  DRAWorkloadResourceClaims: ['GenericWorkload'],
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GangScheduling: ['GenericWorkload'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  InPlacePodLevelResourcesVerticalScaling: ['PodLevelResources', 'NodeDeclaredFeatures'],
  InPlacePodVerticalScalingInitContainers: ['NodeDeclaredFeatures'],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ['MatchLabelKeysInPodTopologySpread'],
  PodLevelResourceManagers: ['PodLevelResources'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  StaleControllerConsistencyDaemonSet: ['AtomicFIFO'],
  StaleControllerConsistencyJob: ['AtomicFIFO'],
  StaleControllerConsistencyReplicaSet: ['AtomicFIFO'],
  StaleControllerConsistencyStatefulSet: ['AtomicFIFO'],
  StorageVersionAPI: ['APIServerIdentity'],
  TopologyAwareWorkloadScheduling: ['GenericWorkload'],
  UnknownVersionInteroperabilityProxy: ['APIServerIdentity'],
  UserNamespacesHostNetworkSupport: ['NodeDeclaredFeatures'],
  WindowsGracefulNodeShutdown: ['GracefulNodeShutdown'],
  WorkloadAwarePreemption: ['GangScheduling'],
  WorkloadWithJob: ['GenericWorkload'],
};
