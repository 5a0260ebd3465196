import packageJson from '../../package.json' with { type: 'json' };

/** The Kubernetes release whose flags, metrics and behaviour this process implements. */
export const kubernetesVersion = '1.36.4';

export const ownVersion = packageJson.version;

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly implementation: string;
  readonly runtime: string;
  readonly platform: string;
}

/** `reported` replaces the version of the release, for `--version=vX.Y.Z`. */
export function versionInfo(reported = `v${kubernetesVersion}`): VersionInfo {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(reported) ?? [];
  return {
    major,
    minor,
    gitVersion: reported,
    implementation: `typescript ${ownVersion}`,
    runtime: `node ${process.version}`,
    platform: `${process.platform}/${process.arch}`,
  };
}
