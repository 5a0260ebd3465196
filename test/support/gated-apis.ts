import type { ClusterOptions } from '../cluster/index.ts';

type GatedApis = Required<Pick<ClusterOptions, 'featureGates' | 'runtimeConfig'>>;

/** Several of them. */
export function mergeApis(...apis: readonly GatedApis[]): GatedApis {
  return {
    featureGates: Object.assign({}, ...apis.map(({ featureGates }) => featureGates)),
    runtimeConfig: Object.assign({}, ...apis.map(({ runtimeConfig }) => runtimeConfig)),
  };
}

/** The same gates for a manager. */
export function gatesFlag({ featureGates }: GatedApis): string {
  return `--feature-gates=${Object.keys(featureGates)
    .map((gate) => `${gate}=true`)
    .join()}`;
}

/** A cluster that serves ClusterTrustBundles and PodCertificateRequests, which are off by default. */
export const certificateApis: GatedApis = {
  featureGates: { ClusterTrustBundle: true, PodCertificateRequest: true },
  runtimeConfig: { 'certificates.k8s.io/v1beta1': true },
};
export const certificateGates = gatesFlag(certificateApis);

/** A cluster that serves StorageVersionMigrations. */
export const migrationApis: GatedApis = {
  featureGates: { StorageVersionMigrator: true },
  runtimeConfig: { 'storagemigration.k8s.io/v1beta1': true },
};
export const migrationGates = gatesFlag(migrationApis);

/** A cluster whose API servers record the versions in which they store resources. */
export const storageVersionApis: GatedApis = {
  featureGates: { StorageVersionAPI: true },
  runtimeConfig: { 'internal.apiserver.k8s.io/v1alpha1': true },
};
export const storageVersionGates = gatesFlag(storageVersionApis);

/** A cluster that serves Workloads and PodGroups. */
export const workloadApis: GatedApis = {
  featureGates: { GenericWorkload: true, WorkloadWithJob: true },
  runtimeConfig: { 'scheduling.k8s.io/v1alpha2': true },
};
export const workloadGates = gatesFlag(workloadApis);

/** A cluster that serves the APIs of devices that are off by default. */
export const deviceApis: GatedApis = {
  featureGates: {
    DRADeviceTaintRules: true,
    DRAResourcePoolStatus: true,
    DRAWorkloadResourceClaims: true,
    GenericWorkload: true,
  },
  runtimeConfig: {
    'resource.k8s.io/v1alpha3': true,
    'resource.k8s.io/v1beta2': true,
    'scheduling.k8s.io/v1alpha2': true,
  },
};
export const deviceGates = gatesFlag(deviceApis);
