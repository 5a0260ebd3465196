import { describe, expect, test } from 'vitest';

import { AnswerReader, type CompleteAnswer } from './http1-answer.ts';

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
const chunked = (...lines: string[]): string => head('Transfer-Encoding: chunked') + [...lines, ''].join('\r\n');

/** Reads what arrives in these pieces, each in the same memory, which the next one overwrites. */
function readPieces(pieces: readonly string[]): { answer: CompleteAnswer | undefined; reader: AnswerReader } {
  const reader = new AnswerReader();
  const memory = Buffer.alloc(1024);
  let answer: CompleteAnswer | undefined;
  for (const piece of pieces) {
    expect(answer).toBeUndefined();
    answer = reader.read(memory.subarray(0, memory.write(piece, 'utf8')));
    memory.fill('?');
  }
  return { answer, reader };
}

interface Row {
  readonly name: string;
  readonly bytes: string;
  readonly status?: number;
  readonly body: string;
  readonly type?: string;
  readonly keeps?: boolean;
}

const answers: readonly Row[] = [
  { name: 'a body with a length', bytes: `${head('Content-Length: 5')}hello`, body: 'hello' },
  { name: 'an empty body', bytes: head('Content-Length: 0'), body: '' },
  {
    name: 'headers in any case',
    bytes: `${head('CONTENT-LENGTH:2', 'content-TYPE: \t text/plain ')}ok`,
    body: 'ok',
    type: 'text/plain',
  },
  { name: 'chunks', bytes: chunked('5', 'hello', '1', ' ', 'A', '0123456789', '0', ''), body: 'hello 0123456789' },
  { name: 'no chunk', bytes: chunked('0', ''), body: '' },
  { name: 'chunks with extensions and a trailer', bytes: chunked('2;a=b', 'ok', '0 ;c', 'Expires: 0', ''), body: 'ok' },
  { name: 'a chunk that holds line ends', bytes: chunked('8', '\r\n0\r\n\r\n\n', '0', ''), body: '\r\n0\r\n\r\n\n' },
  {
    name: 'chunks and a length',
    bytes: `${head('Content-Length: 9', 'Transfer-Encoding: Chunked')}2\r\nok\r\n0\r\n\r\n`,
    body: 'ok',
  },
  { name: 'status 204', bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '' },
  { name: 'status 304', bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', status: 304, body: '' },
  { name: 'no reason', bytes: 'HTTP/1.1 409\r\nContent-Length: 0\r\n\r\n', status: 409, body: '' },
  {
    name: 'an interim answer before it',
    bytes: `HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${head('Content-Length: 2')}ok`,
    body: 'ok',
  },
  {
    name: 'a connection that closes',
    bytes: `${head('Content-Length: 2', 'Connection: Close')}ok`,
    body: 'ok',
    keeps: false,
  },
  { name: 'HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', body: 'ok', keeps: false },
];

describe('an answer', () => {
  for (const { name, bytes, status = 200, body, type, keeps = true } of answers) {
    test(`with ${name} is read, wherever it is cut`, () => {
      const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
      const ways = [[bytes], bytes.split(''), ...cuts.map((cut) => [bytes.slice(0, cut), bytes.slice(cut)])];
      for (const pieces of ways) {
        const { answer } = readPieces(pieces);
        expect(answer).toMatchObject({ status, keepsConnection: keeps });
        expect(answer?.headers['content-type']).toBe(type);
        expect(answer?.body.toString()).toBe(body);
      }
    });
  }

  test('without a length ends with the connection, which cannot be used again', () => {
    const { answer, reader } = readPieces([`${head('Retry-After: 3')}he`, 'llo']);
    expect(answer).toBeUndefined();
    const ended = reader.end();
    expect(ended).toMatchObject({ status: 200, keepsConnection: false, headers: { 'retry-after': '3' } });
    expect(ended?.body.toString()).toBe('hello');
  });

  test('of many megabytes is read whole', () => {
    const reader = new AnswerReader();
    const body = Buffer.alloc(5_000_000, 'abcdefg');
    const piece = (from: number): Buffer => body.subarray(from, from + 16_384);
    expect(reader.read(Buffer.from(head('Content-Length: 5000000')))).toBeUndefined();
    let answer: CompleteAnswer | undefined;
    for (let at = 0; at < body.length; at += 16_384) answer = reader.read(piece(at));
    expect(answer?.body.equals(body)).toBe(true);
  });
});

describe('the end of a connection', () => {
  const unfinished = [
    '',
    'HTTP/1.1 200',
    head('Content-Length: 5'),
    `${head('Content-Length: 5')}hell`,
    chunked('5', 'hel'),
  ];
  for (const bytes of unfinished) {
    test(`after ${JSON.stringify(bytes)} is no answer`, () => {
      expect(readPieces([bytes]).reader.end()).toBeUndefined();
    });
  }
});

describe('what is no answer is refused', () => {
  const rows: readonly { readonly name: string; readonly bytes: string; readonly message: RegExp }[] = [
    { name: 'another protocol', bytes: 'SSH-2.0-OpenSSH\r\n\r\n', message: /is not HTTP\/1.1/ },
    { name: 'a status of two digits', bytes: 'HTTP/1.1 20 OK\r\n\r\n', message: /is not HTTP\/1.1/ },
    { name: 'a header without a name', bytes: head('hello'), message: /header without a name/ },
    { name: 'a length that is no number', bytes: head('Content-Length: 5x'), message: /content length 5x/ },
    { name: 'an unknown encoding', bytes: head('Transfer-Encoding: gzip, chunked'), message: /encoding gzip, chunked/ },
    { name: 'a chunk without a size', bytes: chunked('x'), message: /no valid size/ },
    { name: 'a chunk longer than its size', bytes: chunked('2', 'oka', ''), message: /longer than it says/ },
    {
      name: 'a body of petabytes',
      bytes: head('Content-Length: 900000000000000'),
      message: /part of 900000000000000 bytes/,
    },
    {
      name: 'more than one answer',
      bytes: `${head('Content-Length: 0')}HTTP/1.1 200`,
      message: /more than its answer/,
    },
    { name: 'another protocol after it', bytes: 'HTTP/1.1 101 Switching\r\n\r\n', message: /another protocol/ },
    { name: 'a line without an end', bytes: 'x'.repeat(70_000), message: /endless line/ },
  ];
  for (const { name, bytes, message } of rows) {
    test(name, () => {
      expect(() => new AnswerReader().read(Buffer.from(bytes))).toThrow(message);
    });
  }
});
