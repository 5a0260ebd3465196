export { aggregatedDiscovery, coreVersions, groupList, oneGroup, resourceList } from './documents.ts';
