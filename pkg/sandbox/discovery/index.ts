export { aggregatedDiscovery, coreVersions, groupList, oneGroup, resourceList } from './documents.ts';
export { openApiDocument, openApiIndex } from './openapi.ts';
