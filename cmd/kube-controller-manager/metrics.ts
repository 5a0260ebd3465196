import {
  defineProcessMetrics,
  defineRuntimeMetrics,
  recordBuildInfo,
  recordFeatures,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import { knownGates, type GateStage } from './feature-gate-table.ts';
import type { Options } from './options.ts';
import { versionInfo } from './version.ts';

const stages: Readonly<Record<GateStage, 'ALPHA' | 'BETA' | 'DEPRECATED' | ''>> = {
  alpha: 'ALPHA',
  beta: 'BETA',
  ga: '',
  deprecated: 'DEPRECATED',
};

/** What the process is: its resources, its build and its feature gates. */
export function defineProcessFacts(registry: MetricsRegistry, { gates }: Options, reportedVersion: string): void {
  defineProcessMetrics(registry);
  defineRuntimeMetrics(registry);
  const { major, minor, gitVersion, platform } = versionInfo(reportedVersion);
  recordBuildInfo(registry, {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    runtimeVersion: `node ${process.version}`,
    compiler: 'v8',
    platform,
  });
  recordFeatures(
    registry,
    [...gates.all].map(([name, enabled]) => ({ name, enabled, stage: stages[knownGates.get(name)?.stage ?? 'ga'] })),
  );
}
