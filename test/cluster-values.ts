import type { Sources } from './architecture.ts';

/** Folders whose maps never hold names from the cluster. */
const ownNames = /^(pkg\/(metrics|log|flags|server|certificates)|cmd|scripts|test)\//;

const rules = [
  {
    // A constant (`lastUsedLabel`) is safe, and so is a literal: neither is called `constructor`. `data[${key}]` is a text.
    pattern:
      /\b(?:labels|annotations|matchLabels|nodeSelector|data|stringData|binaryData|requests|limits|capacity|allocatable|used|hard)\??\.?\[(?!'|"|`|\$\{)(?!\w*(?:Annotation|Label|lastUsed|lastApplied)\])[^\]\n]+\]/g,
    complaint: 'indexes a map with a name that may come from the cluster: use ownValue or setOwn',
  },
  {
    pattern: /[(!&|]\s*\(?[a-z]\w* in [a-z][\w.]*\)/g,
    complaint: 'asks with `in`, which finds inherited names too: use Object.hasOwn',
  },
  {
    pattern: /\b\w*(?:[a-z]Time|Timestamp|[a-z]At) (?:===|!==) undefined/g,
    complaint: 'takes a null time for a time: use parseTime or isBeingDeleted',
  },
  { pattern: /\bDate\.parse\(/g, complaint: 'may compute with NaN: use parseTime' },
];

/** These are the helpers, or handle times and names that are not from the API. */
const exceptions: ReadonlyMap<string, readonly string[]> = new Map([
  ['pkg/api/time.ts', ['Date.parse(', 'deletionTimestamp !== undefined']],
  ['pkg/sandbox/failure.ts', ['labels[type]']], // the words for each type of error
  ['pkg/api/selector.ts', ['labels[key]']], // behind a check
  ['pkg/sandbox/schema/conform.ts', ['Date.parse(']], // refuses NaN
  ['controllers/endpointslice/plan.ts', ['triggerTime === undefined']],
  ['controllers/endpoints/plan.ts', ['triggerTime !== undefined']],
  ['pkg/sandbox/rest/list.ts', ['entriesAt === undefined']],
]);

/** One line for each place that reads a value from the cluster in a way that rare but legal input can break. */
export function findUnsafeReads(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    if (path.endsWith('.test.ts') || ownNames.test(path)) return [];
    const allowed = exceptions.get(path) ?? [];
    return rules.flatMap(({ pattern, complaint }) =>
      [...text.matchAll(pattern)]
        .map(([match]) => match)
        .filter((match) => !allowed.includes(match))
        .map((match) => `${path}: ${match} ${complaint}`),
    );
  });
}
