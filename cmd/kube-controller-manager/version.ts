import packageJson from '../../package.json' with { type: 'json' };

/** The Kubernetes release whose flags, metrics and behaviour this process implements. */
export const kubernetesVersion = '1.36.4';

/** By which the API server chooses among candidates: the release, and the one whose behaviour it has. */
export const candidateVersions = {
  binaryVersion: kubernetesVersion,
  emulationVersion: kubernetesVersion.replace(/\d+$/, '0'),
} as const;

export const ownVersion = packageJson.version;

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly implementation: string;
  readonly runtime: string;
  readonly platform: string;
}

/** The output of `--version`. The first line is that of the Go binary. */
export function formatVersion({ gitVersion, implementation, runtime, platform }: VersionInfo): string {
  return `Kubernetes ${gitVersion}\n${implementation}, ${runtime}, ${platform}\n`;
}

/** The output of `--version=raw`: the fields of the Go binary, in its syntax and order. */
export function formatRawVersion({ major, minor, gitVersion, implementation, runtime, platform }: VersionInfo): string {
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: '',
    EmulationMinor: '',
    MinCompatibilityMajor: '',
    MinCompatibilityMinor: '',
    GitVersion: gitVersion,
    GitCommit: '',
    GitTreeState: '',
    BuildDate: '1970-01-01T00:00:00Z',
    GoVersion: runtime,
    Compiler: implementation,
    Platform: platform,
  };
  const pairs = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${pairs.join(', ')}}\n`;
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
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`, // as Go names it
  };
}
