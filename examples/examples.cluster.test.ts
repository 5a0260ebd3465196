import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { until } from '../testing.ts';

const script = join(import.meta.dirname, '../scripts/example.ts');
const firstEvents = {
  hello: 'ConfigMap ada: Greeted: Hello, Ada!',
  'sample-controller': 'Foo example: Synced: Foo synced successfully',
  'namespace-ttl': 'Namespace preview: Expired: deleted 3s after its creation',
};

for (const [name, event] of Object.entries(firstEvents)) {
  test(`npm run example ${name}`, async ({ signal }) => {
    const child = spawn(process.execPath, [script, name], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await until(async () => output.includes(event) || child.exitCode !== null, signal);
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    expect(output).toContain(event);
  });
}
