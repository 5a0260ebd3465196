import { describe, expect, test } from 'vitest';

import { controllers } from '../../controllers/registry.ts';
import { greeting } from '../../test/support/third-party-controller.ts';
import { parseConfig } from './config-file.ts';
import { describeConfig, describeFlags } from './configz.ts';
import { exitCodes } from './exit-codes.ts';
import { collectFlags } from './flags/index.ts';
import { resolveOptions } from './options.ts';
import { runProgram } from './program.ts';

const registered = [...controllers, greeting];

async function runToEnd(...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const deps = {
    controllers: registered,
    environment: {},
    stdout: (text: string) => void (stdout += text),
    stderr: (text: string) => void (stderr += text),
  };
  const exitCode = await runProgram(argv, deps, new AbortController().signal);
  return { exitCode, stdout, stderr };
}

describe('a controller that Kubernetes does not have', () => {
  test('has its flags in a section of --help, after those of Kubernetes', async () => {
    const { stdout } = await runToEnd('--help');
    const [, section = ''] = stdout.split('Greeting-controller flags:');
    expect(section).toMatch(/^\s+--concurrent-greeting-syncs int32 .*\(default 1\)\n\s+--greeting-text string .*\n/);
    expect(section).toContain('Metrics flags:');
    expect(section).not.toContain('Validatingadmissionpolicy');
    expect(stdout).toMatch(/Disabled-by-default controllers: .*greeting-controller/);
  });

  test('refuses a wrong value of its flag with one line that names the flag', async () => {
    expect(await runToEnd('--concurrent-greeting-syncs=0')).toEqual({
      exitCode: exitCodes.usage,
      stdout: '',
      stderr: 'kube-controller-manager: --concurrent-greeting-syncs: must be at least 1, got 0\n',
    });
  });

  test('takes its flags from the command line and from a configuration file', () => {
    const given = new Map([
      ...parseConfig({ GreetingController: { Text: 'from the file' } }, collectFlags(registered)),
      ['concurrent-greeting-syncs', ['3']] as const,
    ]);
    const options = resolveOptions(given, registered);
    expect(describeFlags(options)).toMatchObject({
      'greeting-text': 'from the file',
      'concurrent-greeting-syncs': '3',
    });
    expect(describeConfig(options)).toMatchObject({
      GreetingController: { Text: 'from the file', ConcurrentSyncs: 3 },
    });
  });

  test('is selected by its name or alias, and only if built in', () => {
    const select = (...names: string[]): string[] =>
      resolveOptions(new Map([['controllers', names]]), registered).controllers.enabled.map(({ name }) => name);
    expect(select('*')).not.toContain(greeting.name);
    expect(select('*', 'greeting')).toContain(greeting.name);
    expect(() => resolveOptions(new Map([['controllers', ['greeting']]]), controllers)).toThrow('"greeting" is not in');
  });
});
