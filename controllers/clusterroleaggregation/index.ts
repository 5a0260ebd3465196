import { defineController } from '../../pkg/controller/index.ts';
import { createClusterRoleAggregation } from './cluster-role-aggregation.ts';

export const clusterRoleAggregation = defineController({
  name: 'clusterrole-aggregation-controller',
  aliases: ['clusterrole-aggregation'],
  create: createClusterRoleAggregation,
});
