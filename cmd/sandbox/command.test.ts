import { describe, expect, test } from 'vitest';

import { parseSandboxCommand } from './command.ts';

describe('--feature-gates of the sandbox', () => {
  const rows: { name: string; argv: string[]; gates: string[] }[] = [
    { name: 'are off by default', argv: [], gates: [] },
    { name: 'are those set to true', argv: ['--feature-gates=A=true,B=false,C=true'], gates: ['A', 'C'] },
    { name: 'are not those of the controller manager', argv: ['--', '--feature-gates=A=true'], gates: [] },
  ];
  for (const { name, argv, gates } of rows) {
    test(name, () => {
      const command = parseSandboxCommand(argv);
      expect(command).toMatchObject({ kind: 'sandbox', flags: { featureGates: gates } });
    });
  }

  test('have a value', () => {
    const command = parseSandboxCommand(['--feature-gates=A']);
    expect(command).toMatchObject({ kind: 'print', exitCode: 2 });
    expect(command).toHaveProperty('text', expect.stringContaining('must be of the form Gate=true'));
  });
});
