export interface Program {
  readonly name: string;
  /** As `v1.36.4`. */
  readonly version: string;
  /** The abbreviated commit of the source. */
  readonly commit?: string | undefined;
}

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/1a2b3c4`, the form in audit logs and dashboards. */
export function userAgentOf({ name, version, commit = 'unknown' }: Program): string {
  const arch = goArchitectures[process.arch] ?? process.arch;
  return `${name}/${version} (${process.platform}/${arch}) kubernetes/${commit}`;
}
