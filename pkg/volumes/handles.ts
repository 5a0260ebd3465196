import { ownValue } from '../api/index.ts';

type Labels = Readonly<Record<string, string>> | undefined;

const unspecified = 'UNSPECIFIED';

/** The id in `aws://zone/vol-1`, `aws:///vol-1` or `vol-1`; undefined if there is none. */
export function ebsVolumeId(volumeID: string): string | undefined {
  if (!volumeID.startsWith('aws://')) return volumeID;
  const path = URL.canParse(volumeID) ? new URL(volumeID).pathname : '';
  const id = path.replace(/^\/+|\/+$/g, '');
  return /^vol-[^/]*$/.test(id) ? id : undefined;
}

/** Undefined if the zones of a regional disk are not those of one region. */
export function gceDiskHandle(pdName: string, labels: Labels): string | undefined {
  const label =
    ownValue(labels, 'failure-domain.beta.kubernetes.io/zone') || ownValue(labels, 'topology.kubernetes.io/zone') || '';
  const zones = label.split('__');
  if (zones.length === 1) return `projects/${unspecified}/zones/${label === '' ? unspecified : label}/disks/${pdName}`;
  const region = gceRegionOf(zones);
  return region && `projects/${unspecified}/regions/${region}/disks/${pdName}`;
}

/** The region of zones of the form `us-central1-a`. */
function gceRegionOf(zones: readonly string[]): string | undefined {
  const parts = zones.map((zone) => zone.split('-'));
  const [region, ...others] = new Set(parts.map(([locale, place]) => `${locale}-${place}`));
  return parts.every(({ length }) => length === 3) && others.length === 0 ? region : undefined;
}

/** The plugin never enforced access modes. Its driver does, and knows only these two, not in combination. */
export function gceAccessModes(modes: readonly string[] | undefined): readonly string[] | undefined {
  if (modes === undefined) return undefined;
  const isReadOnly = modes.includes('ReadOnlyMany');
  const isWritable = modes.includes('ReadWriteOnce') || modes.includes('ReadWriteMany');
  return [isReadOnly && !isWritable ? 'ReadOnlyMany' : 'ReadWriteOnce'];
}

export function azureFileHandle(file: {
  readonly resourceGroup?: string | undefined;
  readonly secretName: string;
  readonly shareName: string;
  readonly volumeName: string;
  readonly namespace: string;
}): string {
  const account = /azure-storage-account-(.+)-secret/.exec(file.secretName)?.[1] ?? file.secretName;
  return [file.resourceGroup ?? '', account, file.shareName, file.volumeName, file.namespace].join('#');
}
