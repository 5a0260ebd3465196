import { Deployments, HorizontalPodAutoscalers, type HorizontalPodAutoscaler } from '../../../pkg/api/index.ts';
import { podMetricsList } from '../../support/autoscaler-user.ts';
import { startMetricsApis, type MetricsQuestion } from '../../support/metrics-apis.ts';
import type { ManagerName } from './manager-process.ts';
import { measureWork, type Conditions, type Measurement } from './measure.ts';
import type { Stage } from './stage.ts';

const container = { name: 'app', image: 'app:1', resources: { requests: { cpu: '100m' } } };
const nameOf = (index: number): string => `scaled-${index}`;

function deployment(namespace: string, index: number): object {
  const labels = { app: nameOf(index) };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } };
  return {
    metadata: { namespace, name: nameOf(index) },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
}

function autoscaler(namespace: string, index: number): object {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: nameOf(index) };
  const target = { type: 'AverageValue', averageValue: '50m' };
  const metrics = [{ type: 'Resource', resource: { name: 'memory', target } }];
  return { metadata: { namespace, name: nameOf(index) }, spec: { scaleTargetRef, maxReplicas: 4, metrics } };
}

/** Autoscalers at the default period, on a metrics API that answers at once: until all are on target, and a minute of calm. */
export async function measureAutoscalers(manager: ManagerName, conditions: Conditions): Promise<Measurement[]> {
  const count = Math.max(2, Math.round(1000 * conditions.scale));
  const calmMs = 60_000;
  const isActive = ({ status }: HorizontalPodAutoscaler): boolean =>
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'ScalingActive' && value === 'True');
  return measureWork(
    manager,
    [
      {
        name: `${count} Deployments of one pod, with autoscalers`,
        async run(stage, namespace) {
          const versions = ['metrics.k8s.io/v1beta1'];
          const apis = await startMetricsApis(stage.cluster, stage.client, { versions }, stage.signal);
          stage.use(apis);
          apis.answer(namespace, (question) => ({ body: usageOf(question) }));
          const indexes = Array.from({ length: count }, (_, index) => index);
          await stage.createAll(
            Deployments,
            indexes.map((index) => deployment(namespace, index)),
          );
          await stage.untilAvailable(namespace, count);
          await stage.createAll(
            HorizontalPodAutoscalers,
            indexes.map((index) => autoscaler(namespace, index)),
          );
          await stage.until(HorizontalPodAutoscalers, namespace, (all) => all.filter(isActive).length === count);
        },
      },
      { name: `${calmMs / 1000} s of calm after that`, run: (stage) => calm(stage, calmMs) },
    ],
    conditions,
  );
}

/** One pod, exactly on target. The name of the pod is not known here, and does not matter: its metric counts as missing, on target. */
function usageOf({ query }: MetricsQuestion): unknown {
  return podMetricsList({ [query.get('labelSelector') ?? '']: { memory: '50m' } });
}

async function calm({ signal }: Stage, ms: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('the bench has ended'));
    });
  });
}
