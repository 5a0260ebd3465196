const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** Why the API refuses a name; undefined if it accepts it. The same holds for the functions below. */
export function subdomainProblem(name: string): string | undefined {
  if (name.length > 253) return 'must be no more than 253 bytes';
  if (subdomain.test(name)) return undefined;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

export function qualifiedNameProblem(name: string): string | undefined {
  const slash = name.indexOf('/');
  const prefix = slash < 0 ? undefined : name.slice(0, slash);
  const rest = name.slice(slash + 1);
  if (prefix === '') return 'prefix part must be non-empty';
  if (prefix !== undefined && (prefix.length > 253 || !subdomain.test(prefix))) {
    return `prefix part ${subdomainProblem(prefix) ?? 'is too long'}`;
  }
  if (rest === '') return 'name part must be non-empty';
  if (rest.length > 63) return 'name part must be no more than 63 bytes';
  if (qualifiedName.test(rest)) return undefined;
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  if (labelValue.test(value)) return undefined;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}
