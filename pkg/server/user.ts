/** Someone who asks. The same four fields that reviews carry. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const authenticatedGroup = 'system:authenticated';

/** Whoever proved who they are belongs to this group, which a review does not always say. */
export function withAuthenticatedGroup(user: User): User {
  const known = user.groups.includes(authenticatedGroup) || user.groups.includes('system:unauthenticated');
  if (known || user.name === anonymous.name) return user;
  return { ...user, groups: [...user.groups, authenticatedGroup] };
}
