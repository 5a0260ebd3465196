import { ownValue, type PersistentVolume, type Unsaved } from '../../pkg/api/index.ts';
import {
  boundByController,
  provisionedBy,
  selectedNode,
  annotationOf,
  classOfClaim,
  modeOf,
  referenceTo,
  type Claim,
  type Class,
  type Volume,
} from '../../pkg/volumes/index.ts';
import { inTreeFinalizer } from './finalizers.ts';
import { hostPathPlugin } from './plugins.ts';

/** Where volumes are made. The plugin is for tests with one node. */
const basePath = '/tmp/hostpath_pv';
/** Only below /tmp is anything ever deleted. */
const deletable = /\/tmp\/.+/;

export type Provisioning =
  /** `problem`: why the plugin cannot make it. Then the scheduler selects a node again. */
  | {
      readonly kind: 'create';
      readonly volume: Unsaved<PersistentVolume>;
      readonly path: string;
      readonly problem?: string | undefined;
    }
  | { readonly kind: 'refuse'; readonly message: string };

export interface ProvisioningRequest {
  readonly claim: Claim;
  readonly storageClass: Class;
  readonly isEnabled: boolean;
  /** A random uuid. */
  readonly id: string;
  isNode(name: string): boolean;
}

export function provisionedName({ metadata }: Claim): string {
  return `pvc-${metadata.uid}`;
}

/** Only CSI drivers can copy data. Said before the claim gets the name of its provisioner. */
export function dataSourceProblem({ spec }: Claim): string | undefined {
  if (spec.dataSource === undefined) return undefined;
  return `plugin "${hostPathPlugin}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`;
}

export function planHostPath({ claim, storageClass, isEnabled, id, isNode }: ProvisioningRequest): Provisioning {
  const { mountOptions = [] } = storageClass;
  const { name } = storageClass.metadata;
  const refuse = (message: string): Provisioning => ({ kind: 'refuse', message });
  if (mountOptions.length > 0) {
    const given = `StorageClass "${name}" has mount options [${mountOptions.join(' ')}]`;
    return refuse(`Mount options are not supported by the provisioner but ${given}`);
  }
  if (!isEnabled) {
    return refuse(`Failed to create provisioner: provisioning in volume plugin "${hostPathPlugin}" is disabled`);
  }
  const node = annotationOf(claim, selectedNode);
  if (node !== undefined && !isNode(node)) return refuse(`Failed to get target node: node "${node}" not found`);
  const path = `${basePath}/${id}`;
  const isBlock = modeOf(claim) === 'Block';
  const problem = isBlock ? `${hostPathPlugin} does not support block volume provisioning` : undefined;
  return { kind: 'create', path, volume: composeVolume(claim, storageClass, path), problem };
}

function composeVolume(claim: Claim, { reclaimPolicy = 'Delete' }: Class, path: string): Unsaved<PersistentVolume> {
  const modes = claim.spec.accessModes ?? [];
  return {
    metadata: {
      name: provisionedName(claim),
      annotations: {
        'kubernetes.io/createdby': 'hostpath-dynamic-provisioner',
        [boundByController]: 'yes',
        [provisionedBy]: hostPathPlugin,
      },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [inTreeFinalizer] } : {}),
    },
    spec: {
      persistentVolumeReclaimPolicy: reclaimPolicy,
      accessModes: modes.length === 0 ? ['ReadWriteOnce'] : [...modes],
      capacity: { storage: ownValue(claim.spec.resources?.requests, 'storage') ?? '0' },
      hostPath: { path },
      claimRef: referenceTo(claim),
      storageClassName: classOfClaim(claim),
    },
    status: { phase: 'Bound' },
  };
}

/** Why the directory of a volume cannot be deleted; undefined if it can. */
export function deletionProblem({ metadata, spec }: Volume): string | undefined {
  if (spec.hostPath === undefined) {
    return `failed to create deleter for volume "${metadata.name}": spec.PersistentVolumeSource.HostPath is nil`;
  }
  const { path } = spec.hostPath;
  return deletable.test(path) ? undefined : `host_path deleter only supports /tmp/.+ but received provided ${path}`;
}
