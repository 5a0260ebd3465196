import { InvalidSelectorError, parseSelectorText, type Selector } from '../../api/index.ts';
import { badRequest } from '../failure.ts';

/** Compiles the text form of a label selector. Throws 400. */
export function parseLabelSelector(text = ''): Selector {
  try {
    return parseSelectorText(text).matches;
  } catch (error) {
    if (!(error instanceof InvalidSelectorError)) throw error;
    const isInvalidValue = error.message.includes('Invalid value');
    const selector = isInvalidValue ? `: couldn't parse the selector string ${JSON.stringify(text)}` : '';
    throw badRequest(error.message + selector);
  }
}
