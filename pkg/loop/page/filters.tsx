import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Filter } from '../protocol.ts';
import { hrefOfView } from './route.ts';

interface FiltersProps {
  readonly filter: Filter;
  readonly namespaces: readonly string[];
  readonly kinds: readonly string[];
}

/** Without an entry in the history of the browser for each letter. */
function show(filter: Filter): void {
  location.replace(hrefOfView('cluster', filter));
}

export function Filters({ filter, namespaces, kinds }: FiltersProps): VNode {
  return (
    <form class="filters" role="search" aria-label="Filter objects" onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="Namespace"
        value={filter.namespace ?? ''}
        options={namespaces}
        choose={(namespace) => show({ ...filter, namespace })}
      />
      <Choice label="Kind" value={filter.kind ?? ''} options={kinds} choose={(kind) => show({ ...filter, kind })} />
      <NameFilter filter={filter} />
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly choose: (value: string) => void;
}

function Choice({ label, value, options, choose }: ChoiceProps): VNode {
  // A link may name a namespace that is gone: the choice must still show it.
  const all = value === '' || options.includes(value) ? options : [value, ...options];
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">All</option>
        {all.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Time for the next letter: each filter is another stream. */
const typingMs = 250;

function NameFilter({ filter }: { filter: Filter }): VNode {
  const { name = '' } = filter;
  const [typed, setTyped] = useState(name);
  const asked = useRef(name);
  useEffect(() => {
    if (name === asked.current) return; // what was typed here
    asked.current = name;
    setTyped(name);
  }, [name]);
  useEffect(() => {
    if (typed === asked.current) return undefined;
    const timer = setTimeout(() => {
      asked.current = typed;
      show({ ...filter, name: typed });
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed, filter]);
  return (
    <label class="grows">
      <span>Name</span>
      <input
        type="search"
        value={typed}
        placeholder="Part of a name"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}
