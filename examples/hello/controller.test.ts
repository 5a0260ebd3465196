import { expect, test } from 'vitest';

import { ConfigMaps } from '../../index.ts';
import { configMap, simulate } from '../../testing.ts';
import { helloController } from './controller.ts';

test('greets by name, once, and greets again when the name changes', async () => {
  const ada = configMap({ name: 'a', labels: { greet: 'Ada' } });
  await using run = await simulate(helloController, [ada, configMap({ name: 'b' })]);
  await run.client.patch(ConfigMaps, ada, { metadata: { labels: { greet: 'Grace' } } });
  await run.settle();
  expect(run.events.map(({ message }) => message)).toEqual(['Hello, Ada!', 'Hello, Grace!']);
  expect((await run.client.get(ConfigMaps, ada)).data).toEqual({ greeting: 'Hello, Grace!' });
});
