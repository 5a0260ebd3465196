import { describe, expect, test } from 'vitest';

import { frozen, pod } from '../../test/support/builders.ts';
import { claimEntriesOf, claimNameOf, claimNamesOf, claimTemplatesOf, type ClaimName } from './names.ts';

const resourceClaims = [
  { name: 'named', resourceClaimName: 'shared' },
  { name: 'twice', resourceClaimName: 'shared' },
  { name: 'made', resourceClaimTemplateName: 'template' },
  { name: 'waiting', resourceClaimTemplateName: 'template' },
  { name: 'needless', resourceClaimTemplateName: 'other' },
  { name: 'future' },
];
const resourceClaimStatuses = [{ name: 'made', resourceClaimName: 'user-made-x' }, { name: 'needless' }];
const user = frozen(pod({ name: 'user', spec: { resourceClaims }, status: { resourceClaimStatuses } }));

describe('the claim of an entry', () => {
  const rows: Record<string, ClaimName> = {
    named: { kind: 'known', name: 'shared', isGenerated: false },
    made: { kind: 'known', name: 'user-made-x', isGenerated: true },
    waiting: { kind: 'not-created' },
    needless: { kind: 'not-needed' },
    future: { kind: 'unsupported' },
  };
  for (const [name, expected] of Object.entries(rows)) {
    test(`${name}: ${expected.kind}`, () => {
      const entry = claimEntriesOf(user).find((each) => each.name === name);
      expect(entry && claimNameOf(user, entry)).toEqual(expected);
    });
  }
});

test('known claims and templates are listed once', () => {
  expect(claimNamesOf(user)).toEqual(['shared', 'user-made-x']);
  expect(claimTemplatesOf(user)).toEqual(['template', 'other']);
  expect(claimNamesOf(frozen(pod({ name: 'plain' })))).toEqual([]);
});
