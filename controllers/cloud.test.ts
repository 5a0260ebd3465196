import { describe, expect, test } from 'vitest';

import { createTestContext } from '../test/support/controller-context.ts';
import { RecordingCloud } from '../test/support/recording-cloud.ts';
import { cloudControllers, CloudOptionsError } from './cloud.ts';

const cloud = new RecordingCloud();
const namesOf = (...given: Parameters<typeof cloudControllers>): string[] =>
  cloudControllers(...given).map(({ name }) => name);

describe('cloudControllers', () => {
  const clusterCidrs = ['10.0.0.0/16'];
  test('has the four controllers of a whole cloud', () => {
    expect(namesOf(cloud, { clusterCidrs })).toEqual([
      'cloud-node-controller',
      'cloud-node-lifecycle-controller',
      'service-lb-controller',
      'node-route-controller',
    ]);
  });

  test('leaves out what the cloud does not have, or the options switch off', () => {
    expect(namesOf({ loadBalancers: cloud.loadBalancers })).toEqual(['service-lb-controller']);
    expect(namesOf({ routes: cloud.routes }, { configureCloudRoutes: false })).toEqual([]);
    expect(namesOf({})).toEqual([]);
  });

  const refused = [
    { name: 'no cluster CIDR for a cloud with routes', cidrs: [], message: 'clusterCidrs: the cloud has routes' },
    { name: 'a cluster CIDR that is none', cidrs: ['10.0.0.0'], message: 'clusterCidrs: "10.0.0.0" is not a CIDR' },
    { name: 'two of one family', cidrs: ['10.0.0.0/16', '10.1.0.0/16'], message: 'clusterCidrs: must be one CIDR' },
  ];
  for (const { name, cidrs, message } of refused) {
    test(`refuses ${name}`, () => {
      const call = (): unknown => cloudControllers(cloud, { clusterCidrs: cidrs });
      expect(call).toThrow(CloudOptionsError);
      expect(call).toThrow(message);
    });
  }
});

test('the metrics have the names of Go', async () => {
  const { context } = createTestContext();
  for (const definition of cloudControllers(cloud, { clusterCidrs: ['10.0.0.0/16'] })) definition.create(context);
  const text = await context.metrics.metrics();
  for (const name of [
    'service_controller_loadbalancer_sync_total',
    'service_controller_nodesync_error_total',
    'service_controller_nodesync_latency_seconds_bucket{le="16384"}',
    'service_controller_update_loadbalancer_host_latency_seconds_bucket{le="1"}',
    'route_controller_route_sync_total',
    'node_controller_cloud_provider_taint_removal_delay_seconds_bucket{le="1024"}',
    'node_controller_initial_node_sync_delay_seconds_bucket{le="4"}',
    'workqueue_adds_total{name="service"}',
    'workqueue_adds_total{name="node"}',
    'workqueue_adds_total{name="Nodes"}',
  ]) {
    expect(text).toContain(`\n${name} 0`);
  }
});
