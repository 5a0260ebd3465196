import type { Status } from '../api/index.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string | undefined;
}

interface Subject {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
}

/** A request that is refused. It becomes the Status in the response. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: number;
  readonly reason: string;
  readonly details: Status['details'];
  /** With an expired continue token: one that can still be used to continue. */
  readonly continue: string | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    more: { readonly details?: Status['details']; readonly continue?: string | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = more.details;
    this.continue = more.continue;
  }

  toStatus(): Status {
    const { code, reason, message, details } = this;
    const metadata = this.continue === undefined ? {} : { continue: this.continue };
    const status = { kind: 'Status', apiVersion: 'v1', metadata, status: 'Failure', message };
    return { ...status, ...(reason !== '' && { reason }), ...(details !== undefined && { details }), code };
  }
}

const nameOf = ({ group, resource }: Subject): string => (group === '' ? resource : `${resource}.${group}`);
const detailsOf = ({ group, resource }: Subject, name: string) => ({
  name,
  ...(group !== '' && { group }),
  kind: resource,
});

export function notFound(subject: Subject, name: string): Failure {
  const details = detailsOf(subject, name);
  return new Failure(404, 'NotFound', `${nameOf(subject)} "${name}" not found`, { details });
}

export function alreadyExists(subject: Subject, name: string): Failure {
  const details = detailsOf(subject, name);
  return new Failure(409, 'AlreadyExists', `${nameOf(subject)} "${name}" already exists`, { details });
}

export function conflict(subject: Subject, name: string, why?: string): Failure {
  const text = why ?? 'the object has been modified; please apply your changes to the latest version and try again';
  const message = `Operation cannot be fulfilled on ${nameOf(subject)} "${name}": ${text}`;
  return new Failure(409, 'Conflict', message, { details: detailsOf(subject, name) });
}

export function forbidden(subject: Subject, name: string, why: string, causes: readonly Cause[] = []): Failure {
  const details = { ...detailsOf(subject, name), ...(causes.length > 0 && { causes: [...causes] }) };
  return new Failure(403, 'Forbidden', `${nameOf(subject)} "${name}" is forbidden: ${why}`, { details });
}

export function badRequest(message: string): Failure {
  return new Failure(400, 'BadRequest', message);
}

export function methodNotAllowed(): Failure {
  return new Failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** A path that is not served. */
export function unknownPath(): Failure {
  return new Failure(404, 'NotFound', 'the server could not find the requested resource', { details: {} });
}

export function tooManyRequests(message: string, causes: readonly Cause[], retryAfterSeconds?: number): Failure {
  const details = { causes: [...causes], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return new Failure(429, 'TooManyRequests', message, { details });
}

export function expired(message: string, token?: string): Failure {
  return new Failure(410, 'Expired', message, { continue: token });
}

/** One field that validation refuses. */
export interface FieldError {
  readonly type: 'Invalid' | 'Required' | 'NotSupported' | 'Forbidden' | 'Duplicate' | 'TooLong' | 'NotFound';
  readonly field: string;
  readonly value?: unknown;
  readonly detail: string;
}

const labels: Readonly<Record<FieldError['type'], string>> = {
  Invalid: 'Invalid value',
  Required: 'Required value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  TooLong: 'Too long',
  NotFound: 'Not found',
};

export function invalid(subject: Subject, name: string, errors: readonly FieldError[]): Failure {
  const causes = errors.map((error) => ({
    reason: `FieldValue${error.type}`,
    message: messageOf(error),
    field: error.field,
  }));
  const all = errors.map((error) => `${error.field}: ${messageOf(error)}`);
  const text = all.length === 1 ? all[0] : `[${all.join(', ')}]`;
  const { group, kind } = subject;
  const full = group === '' ? kind : `${kind}.${group}`;
  const details = { name, ...(group !== '' && { group }), kind, causes };
  return new Failure(422, 'Invalid', `${full} "${name}" is invalid: ${text}`, { details });
}

function messageOf(error: FieldError): string {
  const { type, value, detail } = error;
  // An error without a value shows none. A value that is not set is shown as null.
  const hasValue = Object.hasOwn(error, 'value') && !valueless.has(type);
  const shown = hasValue ? `${labels[type]}: ${JSON.stringify(value) ?? 'null'}` : labels[type];
  return detail === '' ? shown : `${shown}: ${detail}`;
}

const valueless: ReadonlySet<FieldError['type']> = new Set(['Required', 'Forbidden', 'TooLong']);

/** The sandbox made an invalid call to itself: a bug in the sandbox, not in a request. */
export class DefectError extends Error {
  override readonly name = 'DefectError';
  readonly reason = 'Defect';
}
