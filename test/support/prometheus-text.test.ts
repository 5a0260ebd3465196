import { describe, expect, test } from 'vitest';
import { parsePrometheusText, sampleValue } from './prometheus-text.ts';

const histogram = (...lines: string[]): string => `# TYPE h histogram\n${lines.join('\n')}\n`;

describe('parsePrometheusText', () => {
  test('reads names, labels with escapes, and special values', () => {
    const text = '# HELP a Help.\n# TYPE a gauge\na{x="q\\"\\\\\\n",y=""} +Inf\na 1e-05\n';
    const families = parsePrometheusText(text);
    expect(sampleValue(families, 'a', { y: '', x: 'q"\\\n' })).toBe(Infinity);
    expect(sampleValue(families, 'a')).toBe(1e-5);
    expect(sampleValue(families, 'a', { x: '' })).toBeUndefined();
    expect(families.get('a')).toMatchObject({ type: 'gauge', help: 'Help.' });
  });

  const refused: readonly { name: string; text: string; error: RegExp }[] = [
    { name: 'a last line without end', text: '# TYPE a gauge\na 1', error: /does not end/ },
    { name: 'a sample without type', text: 'a 1\n', error: /without TYPE/ },
    { name: 'a series twice', text: '# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 1\n', error: /duplicate series/ },
    { name: 'a label twice', text: '# TYPE a gauge\na{x="1",x="2"} 1\n', error: /duplicate label/ },
    {
      name: 'a family in pieces',
      text: '# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# HELP a x\n',
      error: /several pieces/,
    },
    { name: 'a foreign sample within a family', text: '# TYPE a gauge\nb 1\n', error: /within a/ },
    { name: 'a type after samples', text: '# TYPE a gauge\na 1\n# TYPE a gauge\n', error: /after samples/ },
    { name: 'a value that is no number', text: '# TYPE a gauge\na undefined\n', error: /malformed number/ },
    { name: 'a raw quote in a label', text: '# TYPE a gauge\na{x="""} 1\n', error: /expected , or }/ },
    { name: 'a negative counter', text: '# TYPE a counter\na -1\n', error: /counter a is -1/ },
    {
      name: 'a histogram without +Inf',
      text: histogram('h_bucket{le="1"} 1', 'h_sum 1', 'h_count 1'),
      error: /no \+Inf/,
    },
    {
      name: 'counts that are not cumulative',
      text: histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', 'h_sum 1', 'h_count 1'),
      error: /not cumulative/,
    },
    {
      name: 'bounds out of order',
      text: histogram('h_bucket{le="2"} 1', 'h_bucket{le="1"} 1', 'h_bucket{le="+Inf"} 1', 'h_sum 1', 'h_count 1'),
      error: /not ascending/,
    },
    {
      name: 'a count unlike its buckets',
      text: histogram('h_bucket{le="+Inf"} 1', 'h_sum 1', 'h_count 2'),
      error: /count is not/,
    },
    { name: 'a histogram without sum', text: histogram('h_bucket{le="+Inf"} 1', 'h_count 1'), error: /no sum/ },
  ];
  for (const { name, text, error } of refused) {
    test(`refuses ${name}`, () => expect(() => parsePrometheusText(text)).toThrow(error));
  }
});
