/** An authenticated user, with the four fields of a review. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const authenticatedGroup = 'system:authenticated';

/** All authenticated users are in this group, even if a review does not list it. */
export function withAuthenticatedGroup(user: User): User {
  const known = user.groups.includes(authenticatedGroup) || user.groups.includes('system:unauthenticated');
  if (known || user.name === anonymous.name) return user;
  return { ...user, groups: [...user.groups, authenticatedGroup] };
}
