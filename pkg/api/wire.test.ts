import type * as models from '@kubernetes/client-node/dist/gen/models/all.js';
import { describe, expectTypeOf, test } from 'vitest';

import type { KubeObject, Lease, ListMeta, ObjectMeta, Pod, StoredMeta, Unsaved } from './objects.ts';
import type { Wire } from './wire.ts';

describe('Wire', () => {
  test('a required time is a string, an optional one may be null', () => {
    expectTypeOf<Wire<{ at: Date; since?: Date }>>().toEqualTypeOf<{
      at: string;
      since?: string | null | undefined;
    }>();
  });

  test('a prefixed name loses its prefix', () => {
    expectTypeOf<ListMeta>().toHaveProperty('continue');
    expectTypeOf<ListMeta>().not.toHaveProperty('_continue');
  });

  test('a required list may be null, unless validation does not allow it to be empty', () => {
    expectTypeOf<Wire<{ items: string[]; containers: string[] }>>().toEqualTypeOf<{
      items: string[] | null;
      containers: string[];
    }>();
  });

  test('an optional list is null only where Go always writes it', () => {
    expectTypeOf<Wire<{ rules?: string[]; others?: string[] }>>().toEqualTypeOf<{
      rules?: string[] | null | undefined;
      others?: string[] | undefined;
    }>();
  });

  test('the ports of an EndpointSlice may be null, those of a container may not', () => {
    expectTypeOf<null>().toExtend<Wire<models.V1EndpointSlice>['ports']>();
    expectTypeOf<null>().not.toExtend<Wire<models.V1Container>['ports']>();
  });
});

describe('stored objects', () => {
  test('have the metadata that the server sets', () => {
    expectTypeOf<Pod['metadata']>().toEqualTypeOf<StoredMeta>();
    expectTypeOf<StoredMeta['resourceVersion']>().toBeString();
    expectTypeOf<Pod>().toExtend<KubeObject>();
  });

  test('have a spec if the API requires it', () => {
    expectTypeOf<undefined>().not.toExtend<Pod['spec']>();
    expectTypeOf<undefined>().toExtend<Lease['spec']>();
  });

  test('need no uid before they are created', () => {
    expectTypeOf<Unsaved<Pod>['metadata']>().toEqualTypeOf<ObjectMeta>();
  });
});
