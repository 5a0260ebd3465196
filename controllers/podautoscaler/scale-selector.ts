import { InvalidSelectorError, parseSelectorText, type SelectorRequirement } from '../../pkg/api/index.ts';

/**
 * The selector in a scale, in the form that Go gives it. A custom resource may have any text there. Throws
 * `InvalidSelectorError` for text that is not a selector, and for operators that a LabelSelector does not have.
 */
export function normalizeSelector(text: string): string {
  const requirements = parse(text);
  return requirements
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(formatRequirement)
    .join(',');
}

function parse(text: string): readonly SelectorRequirement[] {
  try {
    return parseSelectorText(text).requirements;
  } catch (error) {
    if (!(error instanceof InvalidSelectorError)) throw error;
    throw refused(`couldn't parse the selector string "${text}": ${error.message}`);
  }
}

function formatRequirement({ key, operator, values }: SelectorRequirement): string {
  switch (operator) {
    case '=':
      return `${key}=${values.join()}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...new Set(values)].toSorted().join()})`;
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case '!=':
      throw refused('"!=" is not a valid label selector operator');
    case 'gt':
    case 'lt':
      throw refused(`"${operator}" isn't supported in label selectors`);
  }
}

function refused(why: string): InvalidSelectorError {
  return new InvalidSelectorError(`failed to parse target selector: ${why}`);
}
