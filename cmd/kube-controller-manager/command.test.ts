import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { normalizeArguments } from './arguments.ts';
import { parseCommandLine } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { collectFlags } from './flags/index.ts';

const argumentRows = [
  { name: 'a boolean alone is true', argv: ['--leader-elect'], expected: ['--leader-elect=true'] },
  { name: 'a boolean takes a value behind =', argv: ['--leader-elect=false'], expected: ['--leader-elect=false'] },
  {
    name: 'a boolean leaves the next argument alone',
    argv: ['--leader-elect', 'false'],
    expected: ['--leader-elect=true', 'false'],
  },
  { name: 'another flag takes the next argument', argv: ['--secure-port', '1'], expected: ['--secure-port=1'] },
  {
    name: 'another flag takes the next argument even if it looks like a flag',
    argv: ['--controllers', '-job', '--v=1'],
    expected: ['--controllers=-job', '--v=1'],
  },
  { name: 'underscores in names are dashes', argv: ['--root_ca_file=/a_b'], expected: ['--root-ca-file=/a_b'] },
  { name: '-v 2 is --v=2', argv: ['-v', '2'], expected: ['--v=2'] },
  { name: '-v2 is --v=2', argv: ['-v2'], expected: ['--v=2'] },
  { name: '-v=2 is --v=2', argv: ['-v=2'], expected: ['--v=2'] },
  { name: '-h is --help', argv: ['-h'], expected: ['--help=true'] },
  { name: 'an empty value stays', argv: ['--kubeconfig='], expected: ['--kubeconfig='] },
  { name: 'unknown flags pass through', argv: ['--nope', 'x'], expected: ['--nope', 'x'] },
];

describe('normalizeArguments', () => {
  for (const { name, argv, expected } of argumentRows) {
    test(name, () => expect(normalizeArguments(argv, collectFlags(controllers))).toEqual(expected));
  }
});

const badRows = [
  { name: 'an unknown flag', argv: ['--nope'], message: /unknown option '--nope'/ },
  { name: 'a misspelled flag gets a hint', argv: ['--leader-elct'], message: /Did you mean --leader-elect\?/ },
  { name: 'a positional argument', argv: ['--leader-elect', 'false'], message: /arguments/ },
  { name: 'a flag without its value', argv: ['--kubeconfig'], message: /--kubeconfig/ },
  { name: 'a version that is not valid', argv: ['--version=maybe'], message: /"--version"/ },
];

describe('parseCommandLine', () => {
  for (const { name, argv, message } of badRows) {
    test(`refuses ${name} in one line`, () => {
      const parse = (): unknown => parseCommandLine(argv, []);
      expect(parse).toThrow(message);
      expect(parse).toThrow(expect.objectContaining({ exitCode: exitCodes.usage }));
      expect(parse).not.toThrow(/\n/);
    });
  }

  test('collects every occurrence of a flag in order', () => {
    const line = parseCommandLine(['--controllers=*', '--controllers', '-job', '--v=2'], []);
    if (line.kind !== 'run') throw new Error('expected a run');
    expect(line.given.get('controllers')).toEqual(['*', '-job']);
    expect(line.given.get('v')).toEqual(['2']);
  });

  test('prints the version', () => {
    const own = `typescript ${packageJson.version}`;
    expect(parseCommandLine(['--version'], [])).toMatchObject({
      kind: 'print',
      text: expect.stringMatching(`^Kubernetes v1\\.36\\.4\n${own}, node v[^,]+, \\w+/\\w+\n$`),
    });
    expect(parseCommandLine(['--version=raw'], [])).toMatchObject({
      kind: 'print',
      // The fields of the Go binary, with our compiler and runtime in place of Go's.
      text: expect.stringMatching(
        '^version.Info{Major:"1", Minor:"36", EmulationMajor:"", EmulationMinor:"", MinCompatibilityMajor:"", ' +
          'MinCompatibilityMinor:"", GitVersion:"v1.36.4", GitCommit:"", GitTreeState:"", ' +
          `BuildDate:"1970-01-01T00:00:00Z", GoVersion:"node v[^"]+", Compiler:"${own}", Platform:"\\w+/\\w+"}\n$`,
      ),
    });
    expect(parseCommandLine(['--version=v1.36.4-custom'], [])).toMatchObject({ reportedVersion: 'v1.36.4-custom' });
  });

  test('groups the flags in --help and names the controllers there are', () => {
    const line = parseCommandLine(['--help'], controllers);
    if (line.kind !== 'print') throw new Error('expected a text');
    expect(line.text).toContain('Debugging flags:');
    expect(line.text.indexOf('Generic flags:')).toBeLessThan(line.text.indexOf('Secure serving flags:'));
    expect(line.text).toMatch(/--leader-elect-lease-duration duration .*\(default 15s\)/s);
    expect(line.text).toContain('All controllers: bootstrap-signer-controller,');
    expect(line.text).toMatch(/-v, --v Level/);
  });
});
