import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createNodeLifecycleController } from './node-lifecycle.ts';

export const nodeLifecycle = defineController({
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  options: z.strictObject({
    'node-monitor-period': z.number().min(0).default(5000).describe('How often every node is looked at'),
    'node-monitor-grace-period': z.number().default(50_000).describe('A node silent for this long is unhealthy'),
    'node-startup-grace-period': z.number().default(60_000).describe('The same for a node that is starting'),
    'node-eviction-rate': z.number().default(0.1).describe('Nodes per second tainted in a healthy zone'),
    'secondary-node-eviction-rate': z.number().default(0.01).describe('The same in an unhealthy zone'),
    'large-cluster-size-threshold': z.number().int().default(50).describe('Smaller unhealthy zones are left alone'),
    'unhealthy-zone-threshold': z.number().default(0.55).describe('Part of the nodes that makes a zone unhealthy'),
  }),
  create: (context, options) =>
    createNodeLifecycleController(context, {
      monitorPeriodMs: options['node-monitor-period'],
      health: {
        graceMs: options['node-monitor-grace-period'],
        startupGraceMs: options['node-startup-grace-period'],
      },
      zones: {
        evictionRate: options['node-eviction-rate'],
        secondaryEvictionRate: options['secondary-node-eviction-rate'],
        largeClusterSize: options['large-cluster-size-threshold'],
        unhealthyThreshold: options['unhealthy-zone-threshold'],
      },
    }),
});
