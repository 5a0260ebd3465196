import type { Service } from '../api/index.ts';
import { amountOf, zeroAmount } from '../quantities/index.ts';
import { countName, noScopes, type Evaluator } from './evaluator.ts';

const one = amountOf(1);
const count = countName('services');
const names: ReadonlySet<string> = new Set([count, 'services', 'services.nodeports', 'services.loadbalancers']);

/** Node ports are charged by intent: they are not allocated yet when a service is created. */
export const serviceEvaluator: Evaluator<Service> = {
  resource: 'services',
  tracks: (name) => names.has(name),
  matchesScope: noScopes,
  usageOf: ({ spec }) => {
    const ports = spec.ports ?? [];
    const isBalanced = spec.type === 'LoadBalancer';
    const isExplicit = isBalanced && spec.allocateLoadBalancerNodePorts === false;
    const charged = isExplicit ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0) : ports;
    return new Map([
      [count, one],
      ['services', one],
      ['services.loadbalancers', isBalanced ? one : zeroAmount],
      ['services.nodeports', isBalanced || spec.type === 'NodePort' ? amountOf(charged.length) : zeroAmount],
    ]);
  },
};
