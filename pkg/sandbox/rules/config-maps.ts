import { isEqualJson, ownValue, setOwn, type ConfigMap, type KubeObject, type Secret } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { defineRules, immutable, invalidValue, required } from './rules.ts';

export const secretRules = defineRules<Secret>({
  defaults(secret) {
    secret.type ??= 'Opaque';
    if (secret.stringData === undefined) return;
    secret.data ??= {};
    for (const [name, text] of Object.entries(secret.stringData)) {
      setOwn(secret.data, name, Buffer.from(text).toString('base64'));
    }
    delete secret.stringData;
  },
  validate(secret) {
    const { data = {} } = secret;
    const bytes = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
    return [...validateKeys(data, 'data'), ...validateSize(bytes, 'data'), ...validateType(secret)];
  },
  validateUpdate: (secret, old) => [
    ...immutable('type', secret.type === old.type, secret.type),
    ...validateImmutable(secret, old),
  ],
});

const accountName = 'kubernetes.io/service-account.name';

/** The keys that a Secret of a well-known type must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateType({ type = '', data, metadata }: Secret): FieldError[] {
  const lacks = (key: string): boolean => ownValue(data, key) === undefined;
  if (type === 'kubernetes.io/service-account-token') {
    const account = ownValue(metadata.annotations, accountName) ?? '';
    return account === '' ? [required(`metadata.annotations[${accountName}]`)] : [];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const keys = ['username', 'password']; // one of them is enough
    return keys.every(lacks) ? keys.map((key) => required(`data[${key}]`)) : [];
  }
  return (ownValue(requiredKeys, type) ?? []).filter(lacks).map((key) => required(`data[${key}]`));
}

export const configMapRules = defineRules<ConfigMap>({
  validate({ data = {}, binaryData = {} }) {
    const text = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
    const binary = Object.values(binaryData).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
    const twice = Object.keys(data).filter((key) => Object.hasOwn(binaryData, key));
    return [
      ...validateKeys(data, 'data'),
      ...twice.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...validateKeys(binaryData, 'binaryData'),
      ...validateSize(text + binary, '[]'),
    ];
  },
  validateUpdate: validateImmutable,
});

const maxDataBytes = 1024 * 1024;

function validateSize(bytes: number, field: string): FieldError[] {
  const detail = `may not be more than ${maxDataBytes} bytes`;
  return bytes > maxDataBytes ? [{ type: 'TooLong', field, detail }] : [];
}

const dataKey = /^[-._a-zA-Z0-9]+$/;

function validateKeys(data: Readonly<Record<string, unknown>> = {}, field: string): FieldError[] {
  return Object.keys(data)
    .filter((key) => !dataKey.test(key) || key.length > 253 || key === '.' || key === '..')
    .map((key) => {
      const detail =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
      return invalidValue(`${field}[${key}]`, key, detail);
    });
}

type MaybeImmutable = KubeObject & {
  immutable?: boolean | undefined;
  data?: unknown;
  binaryData?: unknown;
};

function validateImmutable(object: MaybeImmutable, old: MaybeImmutable): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = [];
  const detail = 'field is immutable when `immutable` is set';
  if (object.immutable !== true) errors.push({ type: 'Forbidden', field: 'immutable', detail });
  for (const field of ['data', 'binaryData'] as const) {
    const isSame = isEqualJson(object[field] ?? {}, old[field] ?? {});
    if (!isSame) errors.push({ type: 'Forbidden', field, detail });
  }
  return errors;
}
