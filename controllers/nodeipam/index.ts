import { defineController } from '../../pkg/controller/index.ts';
import { flag, oneOf } from '../../pkg/flags/index.ts';
import { createNodeIpamController } from './node-ipam.ts';
import { readRangeSettings } from './settings.ts';

const name = 'node-ipam-controller';

export const nodeIpam = defineController({
  name,
  aliases: ['nodeipam'],
  flags: {
    'allocate-node-cidrs': flag('bool', {
      group: 'Generic',
      config: 'KubeCloudShared.AllocateNodeCIDRs',
      help: 'Allocate a pod CIDR of --cluster-cidr to each node',
    }),
    'cidr-allocator-type': flag('string', {
      default: 'RangeAllocator',
      group: 'Generic',
      config: 'KubeCloudShared.CIDRAllocatorType',
      help: 'How CIDRs are allocated; only "RangeAllocator"',
      check: oneOf('', 'RangeAllocator'),
    }),
    'cluster-cidr': flag('string', {
      group: 'Generic',
      config: 'KubeCloudShared.ClusterCIDR',
      help: 'CIDRs for pods; used with --allocate-node-cidrs',
    }),
    'node-cidr-mask-size': flag('int32', {
      config: 'NodeIPAMController.NodeCIDRMaskSize',
      help: 'Mask size of the CIDR of a node; 24 for IPv4 and 64 for IPv6 if not set',
    }),
    'node-cidr-mask-size-ipv4': flag('int32', {
      config: 'NodeIPAMController.NodeCIDRMaskSizeIPv4',
      help: 'Mask size of the IPv4 CIDR of a node in a dual-stack cluster',
    }),
    'node-cidr-mask-size-ipv6': flag('int32', {
      config: 'NodeIPAMController.NodeCIDRMaskSizeIPv6',
      help: 'Mask size of the IPv6 CIDR of a node in a dual-stack cluster',
    }),
    'service-cluster-ip-range': flag('string', {
      config: 'NodeIPAMController.ServiceCIDR',
      help: 'CIDRs for Services; no node gets a CIDR that overlaps with them',
    }),
  },
  check: (options) => void readRangeSettings(options),
  create(context, options) {
    const settings = readRangeSettings(options);
    if (settings !== undefined) return createNodeIpamController(context, settings);
    context.logger.info({}, '--allocate-node-cidrs is not set: nodes get no pod CIDR');
    return { name, run: () => Promise.resolve() };
  },
});
