import * as z from 'zod';

import { defineResource, type Cached, type ObjectOf } from '../../index.ts';

/** The resource of Kubernetes' own sample controller. */
export const Foos = defineResource({
  group: 'samplecontroller.example.com',
  version: 'v1alpha1',
  kind: 'Foo',
  spec: z.object({
    deploymentName: z.string().min(1).describe('The name of the Deployment to create.'),
    replicas: z.int32().min(1).max(10).default(1).describe('The size of the Deployment.'),
  }),
  status: z.object({ availableReplicas: z.int32() }),
  printerColumns: [{ name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' }],
});
export type Foo = Cached<ObjectOf<typeof Foos>>;
