import { Pods, ResourceClaims, ResourcePoolStatusRequests } from '../../../pkg/api/index.ts';
import { ClaimUser, consumerOf, fromTemplate, isFree, isGone, named } from '../claim-user.ts';
import { broken, DeviceTaintUser, tolerating } from '../device-taint-user.ts';
import { deviceApis, deviceGates } from '../gated-apis.ts';
import type { FaultScenario } from './scenario.ts';

/** Claims are made for two pods. One pod ends, and with it its claim. A shared claim becomes free. */
const resourceClaims: FaultScenario = {
  controller: 'resourceclaim-controller',
  kinds: [ResourceClaims, Pods],
  async act({ client, namespace, signal }) {
    const user = new ClaimUser(client, namespace, signal);
    await user.template('plain');
    await user.pod('stays', { claims: { first: fromTemplate('plain'), second: fromTemplate('plain') } });
    await user.recorded('stays', 2);
    await user.claim('shared');
    const claims = { own: fromTemplate('plain'), shared: named('shared') };
    const pod = await user.pod('ends', { claims, nodeName: 'elsewhere' });
    const [own = ''] = await user.recorded('ends', 1);
    await user.allocate(own, [], 'gpu-0');
    await user.allocate('shared', [consumerOf(pod)], 'gpu-1');
    await user.until(own, (claim) => claim?.status?.reservedFor?.length === 1);
    await user.setPodStatus('ends', { phase: 'Succeeded' });
    await user.until(own, isGone);
    await user.until('shared', isFree);
    await user.deletePod('ends'); // its status has the random name of a claim that is gone
  },
};

/** A device is tainted: one pod goes at once, one a second later, and one stays. */
const deviceTaints: FaultScenario = {
  controller: 'device-taint-eviction-controller',
  kinds: [Pods],
  async act({ client, namespace, signal }) {
    const user = new DeviceTaintUser(client, namespace, signal);
    await user.publish({ 'gpu-0': [], 'gpu-1': [] });
    await user.deviceUser('intolerant', 'gpu-0');
    await user.deviceUser('patient', 'gpu-0', [tolerating(broken.key, 1)]);
    await user.deviceUser('unaffected', 'gpu-1');
    await user.publish({ 'gpu-0': [broken], 'gpu-1': [] });
    await user.untilEvicted('intolerant', 'patient');
  },
};

const poolStatusRequests: FaultScenario = {
  controller: 'resourcepoolstatusrequest-controller',
  needs: deviceApis,
  flags: () => [deviceGates],
  kinds: [ResourcePoolStatusRequests],
  async act({ client, namespace, signal }) {
    const user = new ClaimUser(client, namespace, signal);
    await user.publish({ 'gpu-0': [], 'gpu-1': [] });
    await user.askForPool('first');
    await user.askForPool('second');
  },
};

export const claimScenarios: readonly FaultScenario[] = [resourceClaims, deviceTaints, poolStatusRequests];
