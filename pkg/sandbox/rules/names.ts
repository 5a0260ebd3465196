export { labelValueProblem, qualifiedNameProblem, subdomainProblem } from '../../api/index.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export function labelProblem(name: string): string | undefined {
  if (name.length > 63) return 'must be no more than 63 bytes';
  if (label.test(name)) return undefined;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** Names of RBAC objects may hold nearly anything. */
export function pathSegmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  for (const forbidden of ['/', '%']) {
    if (name.includes(forbidden)) return `may not contain '${forbidden}'`;
  }
  return undefined;
}
