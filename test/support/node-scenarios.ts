import { CoreEvents, type Node, Nodes, type Pod, Pods, type Toleration } from '../../pkg/api/index.ts';
import { eventually, watchUntil } from './eventually.ts';
import { hasTaint, isEvicting, isTerminating, type NodeUser, readyStatus, tolerating } from './node-user.ts';
import type { Scenario } from './side-by-side.ts';

const kinds = [Nodes, Pods, CoreEvents];
const maintenance = { key: 'example.com/maintenance', effect: 'NoExecute' };
const fine = { reason: 'AllIsWell', message: 'all is well' };
const broken = { reason: 'Broken', message: 'something broke' };
const forever: Toleration[] = [{ operator: 'Exists' }];

/** The controllers, and their settings. */
type Setting = Pick<Scenario, 'controllers' | 'flags'>;

/** All failures of a node, each with pods that tolerate it for ever, for a long time, and for a short time. */
export function troubles(user: NodeUser, setting: Setting): Scenario {
  return {
    ...setting,
    kinds,
    async run({ namespace }, signal) {
      const { hollow } = user;
      await reset(user, signal);
      // None on n-4: a terminating pod whose node recovers may or may not get an event that its deletion is cancelled.
      const hurried = ['n-0', 'n-1', 'n-2', 'n-3', 'n-5', 'n-6'];
      await Promise.all([
        ...hurried.map((nodeName) =>
          user.runPod({ namespace, name: `quick-${nodeName}`, nodeName }, tolerating(1), signal),
        ),
        ...['n-4', ...hurried].flatMap((nodeName) => [
          user.runPod({ namespace, name: `default-${nodeName}`, nodeName }, [], signal),
          user.runPod({ namespace, name: `stays-${nodeName}`, nodeName }, forever, signal),
        ]),
      ]);
      const patient = { ...maintenance, operator: 'Exists', tolerationSeconds: 100 };
      await user.runPod({ namespace, name: 'patient', nodeName: 'n-6' }, [patient], signal);

      hollow.stopHeartbeats('n-0');
      hollow.stopHeartbeats('n-4');
      hollow.setCondition('n-1', { ...broken, type: 'Ready', status: 'False' });
      hollow.setCondition('n-2', { ...broken, type: 'PIDPressure', status: 'True' });
      await user.cordon('n-3', true, signal);
      await user.setTaints('n-5', [maintenance], signal);
      await user.setTaints('n-6', [maintenance], signal);
      await Promise.all([
        user.nodeWhen('n-0', (node) => hasTaint(node, 'unreachable', 'NoExecute'), signal),
        user.nodeWhen('n-1', (node) => hasTaint(node, 'not-ready', 'NoExecute'), signal),
        user.nodeWhen('n-2', (node) => hasTaint(node, 'pid-pressure', 'NoSchedule'), signal),
        user.nodeWhen('n-3', (node) => hasTaint(node, 'unschedulable', 'NoSchedule'), signal),
        user.nodeWhen('n-4', (node) => hasTaint(node, 'unreachable', 'NoExecute'), signal),
        user.podWhen(namespace, 'quick-n-0', isTerminating, signal),
        ...['quick-n-1', 'quick-n-5', 'default-n-5', 'quick-n-6', 'default-n-6'].map((name) =>
          user.podGone(namespace, name, signal),
        ),
      ]);
      await user.setTaints('n-6', [], signal);
      hollow.setCondition('n-4', { ...broken, type: 'Ready', status: 'False' });
      hollow.resumeHeartbeats('n-4');
      await user.nodeWhen('n-4', (node) => hasTaint(node, 'not-ready', 'NoExecute'), signal);
      const cancelled = `Normal TaintManagerEviction Cancelling deletion of Pod ${namespace}/patient`;
      await eventually(async () => (await user.eventsIn(namespace, signal)).includes(cancelled), signal);
    },
  };
}

/** First a third of the nodes of a zone stop posting their status, then all nodes. */
export function fullDisruption(user: NodeUser, setting: Setting): Scenario {
  return {
    ...setting,
    kinds,
    async run({ namespace, manager }, signal) {
      const { hollow, client, nodeCount } = user;
      await reset(user, signal);
      const third = user.nodesIn('zone-a').slice(0, 3);
      await Promise.all([
        ...third.map((nodeName) => {
          return user.runPod({ namespace, name: `quick-${nodeName}`, nodeName }, tolerating(1), signal);
        }),
        ...hollow.nodeNames.map((nodeName) => {
          return user.runPod({ namespace, name: `stays-${nodeName}`, nodeName }, forever, signal);
        }),
      ]);
      for (const name of third) hollow.stopHeartbeats(name);
      await Promise.all(
        third.flatMap((name) => [
          user.nodeWhen(name, isEvicting, signal),
          user.podWhen(namespace, `quick-${name}`, isTerminating, signal),
        ]),
      );
      for (const name of hollow.nodeNames) hollow.stopHeartbeats(name);
      // The Go binary may taint a node while it removes the taints of all others, and does not correct that.
      const isLeftAlone = (node: Node): boolean => manager === 'go' || !isEvicting(node);
      const isDark = (node: Node): boolean =>
        readyStatus(node) === 'Unknown' && hasTaint(node, 'unreachable', 'NoSchedule') && isLeftAlone(node);
      await watchUntil(client, Nodes, { count: nodeCount }, isDark, signal);
      const isUnready = (pod: Pod): boolean => readyStatus(pod) === 'False';
      await watchUntil(client, Pods, { namespace, count: nodeCount + third.length }, isUnready, signal);
    },
  };
}

/** Back to the initial state. */
async function reset(user: NodeUser, signal: AbortSignal): Promise<void> {
  for (const name of ['n-1', 'n-4']) user.hollow.setCondition(name, { ...fine, type: 'Ready', status: 'True' });
  user.hollow.setCondition('n-2', { ...fine, type: 'PIDPressure', status: 'False' });
  await Promise.all([user.setTaints('n-5', [], signal), user.setTaints('n-6', [], signal)]);
  await user.cordon('n-3', false, signal);
  await user.allUp(signal);
}
