export { createHollowCloud } from './cloud.ts';
export { startHollowNodes } from './hollow-nodes.ts';
export type { HollowNodes, HollowNodesOptions } from './hollow-nodes.ts';
export { hollowDriver } from './csi.ts';
export { machineAnnotation } from './machine-power.ts';
export { podSettingNames } from './settings.ts';
