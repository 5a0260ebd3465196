import {
  ConfigMaps,
  keyOf,
  objectKey,
  Pods,
  Secrets,
  ServiceAccounts,
  type Cached,
  type Secret,
} from '../../pkg/api/index.ts';
import { runPeriodically, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { accountOfToken, isAccountOfToken, tokenSecrets } from '../../pkg/tokens/index.ts';
import { applyFate } from './apply.ts';
import { secretNamesOf } from './pod-secrets.ts';
import { computeFate, isLongUnused, isTrackedLongEnough } from './token-fate.ts';

const name = 'legacy-serviceaccount-token-cleaner-controller';

/** The labels have a resolution of days, so more frequent checks would find nothing new. */
const intervalMs = 24 * 3600 * 1000;

/** The ConfigMap in which the API server records since when it tracks the use of tokens. */
const trackingConfigMap = objectKey('kube-system', 'kube-apiserver-legacy-service-account-token-tracking');

/** Removes auto-generated token Secrets of service accounts that were not used for `periodMs`. */
export function createLegacyTokenCleaner(context: ControllerContext, periodMs: number): Controller {
  const { clock, logger } = context;
  const client = context.clientFor('legacy-service-account-token-cleaner');
  const accounts = context.informers.informerFor(ServiceAccounts);
  const secrets = context.informers.informerFor(Secrets, tokenSecrets);
  const pods = context.informers.informerFor(Pods);

  /** Whether the Secret was auto-generated. Only the reference in the service account distinguishes it from a manual one. */
  const isGenerated = (secret: Cached<Secret>): boolean => {
    const wanted = accountOfToken(secret);
    const account = wanted === undefined ? undefined : accounts.store.get(wanted.key);
    if (wanted === undefined || account === undefined || !isAccountOfToken(account, wanted)) return false;
    return (account.secrets ?? []).some((reference) => reference.name === secret.metadata.name);
  };

  const findMounted = (): ((secret: Cached<Secret>) => boolean) => {
    const byNamespace = new Map<string, ReadonlySet<string>>();
    return ({ metadata: { namespace = '', name: secretName } }) => {
      const names = byNamespace.get(namespace) ?? new Set(pods.store.list(namespace).flatMap(secretNamesOf));
      byNamespace.set(namespace, names);
      return names.has(secretName);
    };
  };

  async function clean(signal: AbortSignal): Promise<void> {
    const { data } = await client.get(ConfigMaps, trackingConfigMap, signal);
    const nowMs = clock.now();
    if (!isTrackedLongEnough(data?.['since'], nowMs, periodMs)) return;
    const isMounted = findMounted();
    const unused = secrets.store
      .list()
      .filter((secret) => isLongUnused(secret, nowMs, periodMs) && isGenerated(secret) && !isMounted(secret))
      .map((secret) => ({ secret, fate: computeFate(secret, nowMs, periodMs) }));
    for (const { secret, fate } of unused) {
      try {
        await applyFate(client, secret, fate, signal);
        if (fate.kind !== 'keep') logger.info({ object: keyOf(secret), fate: fate.kind }, 'unused token');
      } catch (error) {
        if (signal.aborted) throw error;
        logger.error({ object: keyOf(secret), err: error }, 'could not clean up an unused token'); // retried in the next period
      }
    }
  }

  const caches = [accounts, secrets, pods];
  return {
    name,
    run: (signal) => runPeriodically({ periodMs: intervalMs, clock, logger, caches }, clean, signal),
  };
}
