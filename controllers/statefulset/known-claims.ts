import { objectKey, type Cached, type StatefulSet } from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import { claimNamesOf, claimTemplatesOf, type Claim, type KnownClaims } from './claims.ts';
import type { Arrangement } from './replicas.ts';

/** The claims of the pods that the set has or should have. */
export function claimsOf(
  set: Cached<StatefulSet>,
  { replicas, condemned }: Arrangement,
  store: Pick<Store<Claim>, 'get'>,
): KnownClaims {
  if (claimTemplatesOf(set).length === 0) return new Map();
  const names = [...replicas, ...condemned].flatMap(({ ordinal }) => claimNamesOf(set, ordinal));
  const claims = names.map((name) => store.get(objectKey(set.metadata.namespace, name)));
  return new Map(claims.filter((claim) => claim !== undefined).map((claim) => [claim.metadata.name, claim]));
}
