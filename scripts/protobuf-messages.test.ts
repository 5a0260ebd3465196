import { expect, test } from 'vitest';

import messages from '../pkg/protobuf/messages.json' with { type: 'json' };
import { describeMessages } from './protobuf-messages.ts';

test('the messages are those of the built-in kinds: if not, run the script', () =>
  expect(messages).toEqual(describeMessages()));
