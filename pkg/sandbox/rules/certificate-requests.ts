import {
  copyOf,
  formatTime,
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { defineRules, invalidValue, required, type WriteContext } from './rules.ts';

/** The specification of a request is immutable. Only the status changes, through its subresources. */
export const certificateRequestRules = defineRules<CertificateSigningRequest>({
  nameProblem: () => undefined,
  beforeUpdate(request, old) {
    request.spec = copyOf(old.spec);
  },
  beforeStatusUpdate(request, old, context) {
    const decisions = old.status?.conditions?.filter(isDecision) ?? [];
    const others = request.status?.conditions?.filter((condition) => !isDecision(condition)) ?? [];
    if (request.status !== undefined && decisions.length > 0) request.status.conditions = [...decisions, ...others];
    setTimes(request, old, context);
  },
  beforeApproval: setTimes,
  validate({ spec }) {
    const errors: FieldError[] = [];
    const pem = Buffer.from(spec.request, 'base64').toString('latin1');
    if (!/-----BEGIN CERTIFICATE REQUEST-----[^-]+-----END CERTIFICATE REQUEST-----/.test(pem)) {
      errors.push(invalidValue('spec.request', spec.request, 'PEM block type must be CERTIFICATE REQUEST'));
    }
    if ((spec.usages ?? []).length === 0) errors.push(required('spec.usages'));
    if (spec.signerName === 'kubernetes.io/legacy-unknown') {
      const detail = 'the legacy signerName is not allowed via this API version';
      errors.push(invalidValue('spec.signerName', spec.signerName, detail));
    } else if (spec.signerName === '') errors.push(required('spec.signerName'));
    if (spec.expirationSeconds !== undefined && spec.expirationSeconds < 600) {
      const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
      errors.push(invalidValue('spec.expirationSeconds', spec.expirationSeconds, detail));
    }
    return errors;
  },
});

function isDecision({ type }: CertificateSigningRequestCondition): boolean {
  return type === 'Approved' || type === 'Denied';
}

function setTimes(request: CertificateSigningRequest, old: CertificateSigningRequest, { nowMs }: WriteContext): void {
  const now = formatTime(nowMs);
  for (const condition of request.status?.conditions ?? []) {
    const before = old.status?.conditions?.find(
      ({ type, status }) => type === condition.type && status === condition.status,
    );
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= before?.lastTransitionTime ?? now;
  }
}
