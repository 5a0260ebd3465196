const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const subdomainForm =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const nameForm =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueForm =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Why the API refuses a name; undefined if it accepts it. The same holds for the functions below. */
export function subdomainProblem(name: string): string | undefined {
  if (name.length > 253) return 'must be no more than 253 bytes';
  if (subdomain.test(name)) return undefined;
  return subdomainForm;
}

export function qualifiedNameProblem(name: string): string | undefined {
  return labelKeyProblems(name)[0];
}

export function labelValueProblem(value: string): string | undefined {
  return labelValueProblems(value)[0];
}

/** All that is wrong with a qualified name, such as the key of a label. */
export function labelKeyProblems(key: string): string[] {
  const [rest = '', ...before] = key.split('/').toReversed();
  if (before.length > 1) {
    const form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${nameForm} ${form}`];
  }
  const [prefix] = before;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    if (prefix.length > 253) problems.push('prefix part must be no more than 253 bytes');
    if (!subdomain.test(prefix)) problems.push(`prefix part ${subdomainForm}`);
  }
  if (rest === '') problems.push('name part must be non-empty');
  else if (bytesOf(rest) > 63) problems.push('name part must be no more than 63 bytes');
  if (!qualifiedName.test(rest)) problems.push(`name part ${nameForm}`);
  return problems;
}

export function labelValueProblems(value: string): string[] {
  const problems: string[] = [];
  if (bytesOf(value) > 63) problems.push('must be no more than 63 bytes');
  if (!labelValue.test(value)) problems.push(valueForm);
  return problems;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
