import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import type { TryAction, TryField, TryResult } from '../protocol.ts';
import type { ObjectPath } from './route.ts';

interface TriesProps {
  readonly actions: readonly TryAction[];
  /** The object that the actions are about; undefined: the cluster. */
  readonly object: ObjectPath | undefined;
}

/** What to try in a sandbox, and the answer of the last try. */
export function Tries({ actions, object }: TriesProps): VNode | null {
  const [result, setResult] = useState<TryResult | undefined>(undefined);
  if (actions.length === 0) return null;
  const attempt = (id: string, fields: Readonly<Record<string, string>>): void => {
    const about = object === undefined ? {} : { ...object, namespace: object.namespace ?? '' };
    setResult({ told: 'Asked…' });
    postTry(id, { ...about, ...fields }).then(setResult, (error: unknown) =>
      setResult({ told: String(error), problem: true }),
    );
  };
  return (
    <section class="tries" aria-label="Try">
      <h2>Try</h2>
      <ul>
        {actions.map((action) => (
          <Try key={action.id} action={action} attempt={attempt} />
        ))}
      </ul>
      <p class={result?.problem === true ? 'told problem' : 'told'} role="status">
        {result?.told}
      </p>
    </section>
  );
}

async function postTry(id: string, body: Readonly<Record<string, string>>): Promise<TryResult> {
  const response = await fetch(`./try/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isResult = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (isResult) return JSON.parse(text) as TryResult; // of the same build as this page
  return { told: text === '' ? `The server answered with ${response.status}.` : text, problem: !response.ok };
}

interface TryProps {
  readonly action: TryAction;
  readonly attempt: (id: string, fields: Readonly<Record<string, string>>) => void;
}

function Try({ action: { id, label, description, fields }, attempt }: TryProps): VNode {
  const [values, setValues] = useState(() => Object.fromEntries(fields.map((field) => [field.name, field.default])));
  return (
    <li>
      <form
        title={description}
        onSubmit={(event) => {
          event.preventDefault();
          attempt(id, values);
        }}
      >
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            set={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        <button type="submit">
          {label}
          <span class="unseen">. {description}</span>
        </button>
      </form>
    </li>
  );
}

interface FieldProps {
  readonly field: TryField;
  readonly value: string;
  readonly set: (value: string) => void;
}

function Field({ field: { label, kind }, value, set }: FieldProps): VNode {
  const common = {
    value,
    required: true,
    onInput: (event: { readonly currentTarget: HTMLInputElement }): void => set(event.currentTarget.value),
  };
  return (
    <label>
      <span>{label}</span>
      {kind === 'text' ? <input type="text" {...common} /> : <input type="number" min={0} {...common} />}
    </label>
  );
}
