export interface Program {
  readonly name: string;
  /** Such as `v1.36.4`. */
  readonly version: string;
  /** Of the source it was built from; short. */
  readonly commit?: string | undefined;
}

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/1a2b3c4`, the form that audit logs and dashboards expect. */
export function userAgentOf({ name, version, commit = 'unknown' }: Program): string {
  const arch = goArchitectures[process.arch] ?? process.arch;
  return `${name}/${version} (${process.platform}/${arch}) kubernetes/${commit}`;
}
