export { startHollowNodes } from './hollow-nodes.ts';
export type { HollowNodes, HollowNodesOptions } from './hollow-nodes.ts';
export { podSettingNames } from './settings.ts';
