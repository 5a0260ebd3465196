/** A pattern for Go's regexp package, or why there is none. */
export type Re2Pattern = { readonly pattern: string } | { readonly refused: string };

const flagsOfRe2 = { i: 'i', s: 's', m: 'm' } as const;
const largestRepeat = 1000;

/** What follows a backslash and has the same meaning in both languages. Punctuation has, too. */
const sharedEscapes = 'dDsSwWbBfnrtv';

/**
 * The same pattern in the language of Go's regexp package (RE2), with which the API server checks patterns. RE2 has
 * no look-arounds and no back-references.
 */
export function re2PatternOf({ source, flags }: RegExp): Re2Pattern {
  if (/[vy]/.test(flags)) return { refused: `the flag ${/[vy]/.exec(flags)?.[0]}` };
  const parts: string[] = [];
  const repeats = new Repeats();
  let isInClass = false;
  let rest = source;
  while (rest !== '') {
    const token = nextToken(rest, isInClass);
    if ('refused' in token) return token;
    if (!isInClass) repeats.add(token);
    if (repeats.largest > largestRepeat) {
      return { refused: `nested repeats of more than ${largestRepeat} together` };
    }
    parts.push(token.pattern);
    isInClass = token.isInClass ?? isInClass;
    rest = rest.slice(token.length);
  }
  const kept = Object.entries(flagsOfRe2).flatMap(([flag, name]) => (flags.includes(flag) ? [name] : []));
  return { pattern: `${kept.length === 0 ? '' : `(?${kept.join('')})`}${parts.join('')}` };
}

interface Token {
  readonly pattern: string;
  /** Of the text that it replaces. */
  readonly length: number;
  /** Set where a character class begins or ends. */
  readonly isInClass?: boolean;
  /** How often the part before it is repeated. Where there is no upper limit, at least. */
  readonly times?: number;
}

/** Multiplies nested repeats: RE2 limits their product, too. */
class Repeats {
  /** The largest product in each open group, and around them. */
  readonly #groups: number[] = [1];
  /** Of the part before a repeat: a group or a single character. */
  #before = 1;

  get largest(): number {
    return Math.max(this.#groups.at(-1) ?? 1, this.#before);
  }

  add({ pattern, times }: Token): void {
    if (times !== undefined) {
      this.#before *= times;
      return;
    }
    const inGroup = Math.max(this.#groups.pop() ?? 1, this.#before);
    this.#before = 1;
    if (pattern === ')') this.#before = inGroup;
    else this.#groups.push(inGroup);
    if (pattern === '(' || pattern === '(?P<') this.#groups.push(1);
  }
}

type Next = Token | { readonly refused: string };

function nextToken(rest: string, isInClass: boolean): Next {
  if (rest.startsWith('\\')) return escape(rest, isInClass);
  if (isInClass) {
    if (rest.startsWith(']')) return { pattern: ']', length: 1, isInClass: false };
    // RE2 would read [:alpha:] as a class.
    return { pattern: rest.startsWith('[') ? '\\[' : rest.slice(0, 1), length: 1 };
  }
  if (rest.startsWith('[^]')) return { pattern: '[\\s\\S]', length: 3 };
  if (rest.startsWith('[]')) return { refused: 'an empty class' };
  if (rest.startsWith('[')) {
    const start = rest.startsWith('[^') ? '[^' : '[';
    return { pattern: start, length: start.length, isInClass: true };
  }
  if (/^\(\?<?[=!]/.test(rest)) return { refused: 'a look-around' };
  if (rest.startsWith('(?<')) return { pattern: '(?P<', length: 3 };
  const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
  if (repeat === null) return { pattern: rest.slice(0, 1), length: 1 };
  const [text, least, most] = repeat;
  if (Math.max(Number(least), Number(most ?? 0)) > largestRepeat) {
    return { refused: `a repeat of more than ${largestRepeat}` };
  }
  const times = most === '' ? Math.max(1, Number(least)) : Number(most ?? least);
  return { pattern: text, length: text.length, times };
}

function escape(rest: string, isInClass: boolean): Next {
  const code = /^\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(rest);
  if (code !== null) {
    const digits = code[1] ?? code[2] ?? code[3] ?? '';
    const isSurrogate = /^d[89a-f]..$/i.test(digits);
    return isSurrogate
      ? { refused: 'half of a surrogate pair' }
      : { pattern: `\\x{${digits}}`, length: code[0].length };
  }
  const property = /^\\[pP]\{(?:(?:Script|sc)=)?(\w+)\}/.exec(rest);
  if (property !== null) {
    const [text, name = ''] = property;
    // RE2 knows general categories by their short names, and scripts.
    const isKnown = /^[A-Z][a-z]?$/.test(name) || text.includes('=');
    return isKnown
      ? { pattern: `\\${text.charAt(1)}{${name}}`, length: text.length }
      : { refused: `the class ${text}` };
  }
  const escaped = rest.charAt(1);
  if (isInClass && escaped === 'b') return { pattern: '\\x{08}', length: 2 };
  if (escaped === '0') return { pattern: '\\x{00}', length: 2 };
  if (/[1-9k]/.test(escaped)) return { refused: 'a back-reference' };
  if (/[A-Za-z]/.test(escaped) && !sharedEscapes.includes(escaped)) return { refused: `the escape \\${escaped}` };
  return { pattern: rest.slice(0, 2), length: 2 };
}
