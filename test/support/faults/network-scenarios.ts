import { EndpointsKind, EndpointSlices, type Kind, Nodes, Pods, Services } from '../../../pkg/api/index.ts';
import { EndpointsUser } from '../endpoints-user.ts';
import { createNode } from './node-scenarios.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

const serving = { app: 'web' };
/** The only annotation is the time of the last change, which is left out when two changes fall into one second. */
const ignore = ['Endpoints:metadata.annotations*', 'EndpointSlice:metadata.annotations*'];

/** Two Services, a pod that is no longer ready, and a Service that goes. */
async function serve(stage: FaultStage, kind: Kind): Promise<void> {
  const user = new EndpointsUser(stage.client, stage.namespace, stage.signal);
  const node = await createNode(stage, 'True');
  await user.pod('a', { labels: serving, ip: 1, node });
  await user.pod('b', { labels: serving, ip: 2, node });
  await user.service('web', { selector: serving });
  await user.service('old', { selector: serving });
  const until = async (service: string, ready: number, notReady: number): Promise<void> => {
    if (kind === EndpointsKind) {
      await user.untilEndpoints(service, ({ subsets = [] }) => {
        const [subset] = subsets;
        return subset?.addresses?.length === ready && (subset.notReadyAddresses?.length ?? 0) === notReady;
      });
      return;
    }
    await user.untilSlices(service, (slices) => {
      const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
      return (
        endpoints.length === ready + notReady &&
        endpoints.filter(({ conditions }) => conditions?.ready === true).length === ready
      );
    });
  };
  await until('web', 2, 0);
  await until('old', 2, 0);
  await user.delete(Services, 'old');
  if (kind === EndpointsKind) await user.untilGone(kind, 'old');
  await user.report('b', { labels: serving, ip: 2, ready: false });
  await until('web', 1, 1);
}

const endpoints: FaultScenario = {
  controller: 'endpoints-controller',
  ignore,
  kinds: [Services, EndpointsKind, Pods, Nodes],
  act: (stage) => serve(stage, EndpointsKind),
};

const endpointSlice: FaultScenario = {
  controller: 'endpointslice-controller',
  ignore,
  kinds: [Services, EndpointSlices, Pods, Nodes],
  act: (stage) => serve(stage, EndpointSlices),
};

/** Endpoints that a user writes are mirrored, changed, and go. */
const endpointSliceMirroring: FaultScenario = {
  controller: 'endpointslice-mirroring-controller',
  ignore,
  kinds: [Services, EndpointsKind, EndpointSlices],
  async act({ client, namespace, signal }) {
    const user = new EndpointsUser(client, namespace, signal);
    const subsets = (...ips: string[]) => [
      { addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] },
    ];
    for (const name of ['outside', 'old']) {
      await user.service(name, {});
      await user.create(EndpointsKind, { metadata: { name }, subsets: subsets('10.1.0.1') });
      await user.untilSlices(name, ([slice]) => slice?.endpoints?.length === 1);
    }
    await user.patch(EndpointsKind, 'outside', { subsets: subsets('10.1.0.1', '10.1.0.2') });
    await user.untilSlices('outside', ([slice]) => slice?.endpoints?.length === 2);
    await user.delete(EndpointsKind, 'old');
    await user.untilSlices('old', (slices) => slices.length === 0);
  },
};

export const networkScenarios: readonly FaultScenario[] = [endpoints, endpointSlice, endpointSliceMirroring];
