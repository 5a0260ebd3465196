import type { Cached, Pod } from '../../pkg/api/index.ts';

type SecurityContext = NonNullable<Pod['spec']['securityContext']>;
type SelinuxOptions = Cached<NonNullable<SecurityContext['seLinuxOptions']>>;

/** How the volume of a pod gets its SELinux label. */
export interface VolumeLabel {
  /** Empty if the label is not set with the mount. */
  readonly label: string;
  readonly changePolicy: string;
}

/** The labels under which the containers of a pod mount its volumes, by the name of the volume. */
export function labelsOf({ spec }: Cached<Pod>): Map<string, Set<string>> {
  const labels = new Map<string, Set<string>>();
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  for (const { securityContext, volumeMounts } of containers) {
    const options = securityContext?.seLinuxOptions ?? spec.securityContext?.seLinuxOptions;
    for (const { name } of volumeMounts ?? []) {
      const known = labels.get(name) ?? new Set();
      labels.set(name, options === undefined ? known : known.add(formatLabel(options)));
    }
  }
  return labels;
}

/** What is not set is not known here: its default is that of the node. */
function formatLabel({ user = '', role = '', type = '', level = '' }: SelinuxOptions): string {
  const label = [user, role, type, level].join(':');
  return label === ':::' ? '' : label;
}

/** `isSupported`: the plugin can set the label with the mount. Otherwise the label of each file is changed. */
export function volumeLabel({ spec }: Cached<Pod>, label: string, isSupported: boolean): VolumeLabel {
  const { seLinuxChangePolicy = 'MountOption' } = spec.securityContext ?? {};
  const isMounted = isSupported && label !== '' && seLinuxChangePolicy !== 'Recursive';
  return isMounted ? { label, changePolicy: seLinuxChangePolicy } : { label: '', changePolicy: 'Recursive' };
}

/** Whether two labels are surely different. The level has no default, so it always counts. */
export function areConflicting(a: string, b: string): boolean {
  const [left, right] = [partsOf(a), partsOf(b)];
  return left.some((part, index) => {
    const other = right[index] ?? '';
    return part !== other && (index === 3 || (part !== '' && other !== ''));
  });
}

/** User, role, type and level. The level has colons. */
function partsOf(label: string): string[] {
  const [user = '', role = '', type = '', ...level] = label.split(':');
  return [user, role, type, level.join(':')];
}
