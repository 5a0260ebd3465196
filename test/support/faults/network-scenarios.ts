import {
  EndpointsKind,
  EndpointSlices,
  type Kind,
  Nodes,
  objectKey,
  Pods,
  ServiceCIDRs,
  Services,
} from '../../../pkg/api/index.ts';
import { EndpointsUser } from '../endpoints-user.ts';
import { eventually } from '../eventually.ts';
import { createNode } from './node-scenarios.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

const serving = { app: 'web' };
/** The only annotation is the time of the last change, which is absent if two changes have the same second. */
const ignore = ['Endpoints:metadata.annotations*', 'EndpointSlice:metadata.annotations*'];

/** Two Services, a pod that becomes not ready, and a Service that is deleted. */
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

/** Endpoints of a user are mirrored, changed and deleted. */
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

/** A ServiceCIDR becomes ready, and again after its finalizer was removed. */
const serviceCidr: FaultScenario = {
  controller: 'service-cidr-controller',
  kinds: [ServiceCIDRs],
  async act({ client, namespace, signal }) {
    const key = objectKey(undefined, `${namespace}-range`);
    await client.create(
      ServiceCIDRs,
      { metadata: { name: `${namespace}-range` }, spec: { cidrs: ['10.220.0.0/24'] } },
      signal,
    );
    const isHeldAndReady = async (): Promise<boolean> => {
      const { metadata, status } = await client.get(ServiceCIDRs, key, signal);
      const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
      return metadata.finalizers?.length === 1 && isReady === true;
    };
    await eventually(isHeldAndReady, signal);
    await client.patch(ServiceCIDRs, key, { type: 'merge', body: { metadata: { finalizers: null } } }, signal);
    await eventually(isHeldAndReady, signal);
  },
};

export const networkScenarios: readonly FaultScenario[] = [
  endpoints,
  endpointSlice,
  endpointSliceMirroring,
  serviceCidr,
];
