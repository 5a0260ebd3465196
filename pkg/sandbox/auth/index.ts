export { Authenticator } from './authenticate.ts';
export { TokenSigner } from './tokens.ts';
export type { User } from './user.ts';
