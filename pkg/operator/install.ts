import { CustomResourceDefinitions, isConditionTrue, keyOf } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import type { Clock } from '../time/index.ts';
import type { CrdManifest } from './resource.ts';

const intervalMs = 50;

/** Applies CustomResourceDefinitions, and resolves once the API server serves them. */
export async function installResources(
  resources: readonly { readonly crd: CrdManifest }[],
  { client, clock, fieldManager }: { readonly client: Client; readonly clock: Clock; readonly fieldManager: string },
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    resources.map(async ({ crd }) => {
      const patch = { type: 'apply', body: crd, fieldManager, force: true } as const;
      let installed = await client.patch(CustomResourceDefinitions, keyOf(crd), patch, signal);
      while (!isConditionTrue(installed.status?.conditions ?? [], 'Established')) {
        await clock.sleep(intervalMs, signal);
        installed = await client.get(CustomResourceDefinitions, keyOf(crd), signal);
      }
    }),
  );
}
