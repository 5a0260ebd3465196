import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { DefinitionError } from './definition-error.ts';
import { structuralSchema } from './structural-schema.ts';

const named = z.object({ x: z.string() }).meta({ id: 'Named', description: 'Named.' });

const rows: { readonly name: string; readonly schema: z.ZodType; readonly expected: unknown }[] = [
  {
    name: 'a string keeps its limits',
    schema: z.string().min(1).max(9),
    expected: { type: 'string', minLength: 1, maxLength: 9 },
  },
  { name: 'an integer without bounds is an int64', schema: z.int(), expected: { type: 'integer', format: 'int64' } },
  {
    name: 'an int32 keeps only the bounds of its author',
    schema: z.int32().min(1),
    expected: { type: 'integer', format: 'int32', minimum: 1 },
  },
  {
    name: 'a number above a limit',
    schema: z.number().gt(3),
    expected: { type: 'number', minimum: 3, exclusiveMinimum: true },
  },
  { name: 'a default', schema: z.boolean().default(true), expected: { type: 'boolean', default: true } },
  { name: 'null', schema: z.string().nullable(), expected: { type: 'string', nullable: true } },
  { name: 'an enum', schema: z.enum(['a', 'b']), expected: { type: 'string', enum: ['a', 'b'] } },
  {
    name: 'a union of literals is an enum',
    schema: z.union([z.literal('a'), z.literal('b')]),
    expected: { type: 'string', enum: ['a', 'b'] },
  },
  {
    name: 'a union of literals of numbers is an enum',
    schema: z.union([z.literal(1), z.literal([2, 1])]),
    expected: { type: 'number', enum: [1, 2] },
  },
  {
    name: 'a union of formats',
    schema: z.union([z.ipv4().describe('Four.'), z.ipv6()]).describe('An address.'),
    expected: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }], description: 'An address.' },
  },
  {
    name: 'a union of a union of strings, or null',
    schema: z.union([z.union([z.ipv4(), z.literal('any')]), z.string().min(9).nullable()]),
    expected: {
      type: 'string',
      nullable: true,
      anyOf: [{ format: 'ipv4' }, { enum: ['any'] }, { minLength: 9 }],
    },
  },
  {
    name: 'a union of ranges',
    schema: z.union([z.int32().max(5), z.int32().min(10)]),
    expected: { type: 'integer', format: 'int32', anyOf: [{ maximum: 5 }, { minimum: 10 }] },
  },
  {
    name: 'a union in which any string matches',
    schema: z.union([z.enum(['a', 'b']), z.string()]),
    expected: { type: 'string' },
  },
  {
    name: 'a number or a string',
    schema: z.union([z.int(), z.string()]),
    expected: { 'x-kubernetes-int-or-string': true },
  },
  {
    name: 'a number or a string, with the extension of its author',
    schema: z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
    expected: { 'x-kubernetes-int-or-string': true },
  },
  {
    name: 'a string or a number, with the extension of its author and limits',
    schema: z.union([z.string().max(9), z.int().min(1)]).meta({ 'x-kubernetes-int-or-string': true, maxLength: 5 }),
    expected: { 'x-kubernetes-int-or-string': true, minimum: 1, maxLength: 5 },
  },
  {
    name: 'anything, with the extension of a number or a string',
    schema: z.unknown().meta({ 'x-kubernetes-int-or-string': true }),
    expected: { 'x-kubernetes-int-or-string': true },
  },
  {
    name: 'a format that the server knows',
    schema: z.iso.datetime(),
    expected: { type: 'string', format: 'date-time' },
  },
  {
    name: 'a format that only zod knows is a pattern',
    schema: z.string().startsWith('ab'),
    expected: { type: 'string', pattern: '^ab.*' },
  },
  {
    name: 'a map',
    schema: z.record(z.string(), z.int32()),
    expected: { type: 'object', additionalProperties: { type: 'integer', format: 'int32' } },
  },
  { name: 'anything', schema: z.unknown(), expected: { 'x-kubernetes-preserve-unknown-fields': true } },
  {
    name: 'a strict object: the server prunes',
    schema: z.strictObject({ a: z.string() }),
    expected: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  },
  {
    name: 'a loose object',
    schema: z.looseObject({}),
    expected: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
  {
    name: 'fields with a default are not required',
    schema: z.object({ a: z.string().default('x'), b: z.string(), c: z.string().optional() }),
    expected: {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' }, c: { type: 'string' } },
      required: ['b'],
    },
  },
  {
    name: 'a list keeps the extensions of its author',
    schema: z
      .array(z.object({ k: z.string() }))
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    expected: {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } }, required: ['k'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
  },
  {
    name: 'a union of objects: the fields of all, and what each alternative requires',
    schema: z.discriminatedUnion('type', [
      z.object({ type: z.literal('s3'), bucket: z.string() }),
      z.object({ type: z.literal('disk'), path: z.string() }),
    ]),
    expected: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['s3', 'disk'] },
        bucket: { type: 'string' },
        path: { type: 'string' },
      },
      oneOf: [
        { properties: { type: { enum: ['s3'] } }, required: ['type', 'bucket'] },
        { properties: { type: { enum: ['disk'] } }, required: ['type', 'path'] },
      ],
    },
  },
  {
    name: 'a union of objects that describe a field differently: the first description',
    schema: z.discriminatedUnion('type', [
      z.object({ type: z.literal('s3').describe('Remote.'), at: z.object({ title: z.string().describe('A.') }) }),
      z.object({ type: z.literal('disk'), at: z.object({ title: z.string().describe('B.') }) }),
    ]),
    expected: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['s3', 'disk'], description: 'Remote.' },
        at: { type: 'object', properties: { title: { type: 'string', description: 'A.' } }, required: ['title'] },
      },
      oneOf: [
        { properties: { type: { enum: ['s3'] } }, required: ['type', 'at'] },
        { properties: { type: { enum: ['disk'] } }, required: ['type', 'at'] },
      ],
    },
  },
  {
    name: 'a union of objects of which several may match',
    schema: z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.string() })]),
    expected: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['a', 'b'] }],
    },
  },
  {
    name: 'a schema with an id, twice',
    schema: z.object({ a: named, b: named.optional() }),
    expected: {
      type: 'object',
      properties: {
        a: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'], description: 'Named.' },
        b: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'], description: 'Named.' },
      },
      required: ['a'],
    },
  },
  { name: 'a read-only field', schema: z.string().readonly(), expected: { type: 'string' } },
  {
    name: 'annotations that a definition has, and no others',
    schema: z.string().meta({ title: 'T', description: 'D', deprecated: true, examples: ['a'], color: 'red' }),
    expected: { type: 'string', title: 'T', description: 'D' },
  },
  { name: 'base64', schema: z.base64(), expected: { type: 'string', format: 'byte' } },
  {
    name: 'base64 for URLs',
    schema: z.base64url(),
    expected: { type: 'string', pattern: z.regexes.base64url.source },
  },
  { name: 'flags of a pattern', schema: z.string().regex(/^a/i), expected: { type: 'string', pattern: '(?i)^a' } },
  {
    name: 'several patterns',
    schema: z.string().startsWith('a').endsWith('b').max(9),
    expected: { type: 'string', maxLength: 9, allOf: [{ pattern: '^a.*' }, { pattern: '.*b$' }] },
  },
  {
    name: 'a format and a pattern',
    schema: z.url().endsWith('/'),
    expected: { type: 'string', format: 'uri', pattern: '.*\\/$' },
  },
  {
    name: 'a format of its author',
    schema: z.string().meta({ format: 'duration' }),
    expected: { type: 'string', format: 'duration' },
  },
  {
    name: 'a format with a pattern of its author',
    schema: z.email({ pattern: /@example\.com$/i }),
    expected: { type: 'string', format: 'email', pattern: '(?i)@example\\.com$' },
  },
  { name: 'a format with the pattern of zod', schema: z.email(), expected: { type: 'string', format: 'email' } },
  { name: 'any UUID', schema: z.uuid(), expected: { type: 'string', format: 'uuid' } },
  { name: 'a version of UUIDs', schema: z.uuidv4(), expected: { type: 'string', format: 'uuid4' } },
  {
    name: 'a version of UUIDs that only zod knows',
    schema: z.uuidv7(),
    expected: { type: 'string', format: 'uuid', pattern: z.regexes.uuid7.source },
  },
  {
    name: 'a MAC address with other delimiters',
    schema: z.mac({ delimiter: '-' }),
    expected: { type: 'string', format: 'mac', pattern: z.regexes.mac('-').source },
  },
  {
    name: 'a date and time with a number of digits',
    schema: z.iso.datetime({ offset: true, precision: 3 }),
    expected: {
      type: 'string',
      format: 'date-time',
      pattern: z.regexes.datetime({ offset: true, precision: 3 }).source,
    },
  },
  {
    name: 'a date and time with an offset',
    schema: z.iso.datetime({ offset: true }),
    expected: { type: 'string', format: 'date-time' },
  },
  {
    name: 'a time without a zone',
    schema: z.iso.time({ precision: 0 }),
    expected: { type: 'string', pattern: '^(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d$' },
  },
  {
    name: 'a number with limits, or a string with a pattern',
    schema: z.union([z.int().min(1), z.string().regex(/%$/)]),
    expected: { 'x-kubernetes-int-or-string': true, minimum: 1, pattern: '%$' },
  },
  {
    name: 'a string or null',
    schema: z.union([z.string().min(1), z.null()]),
    expected: { type: 'string', minLength: 1, nullable: true },
  },
  {
    name: 'a default that all alternatives have',
    schema: z.union([
      z.object({ a: z.string(), n: z.boolean().default(true) }),
      z.object({ b: z.string(), n: z.boolean().default(true) }),
    ]),
    expected: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, n: { type: 'boolean', default: true } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  },
  {
    name: 'a default of an object, whose fields have defaults',
    schema: z.object({ a: z.string().default('x'), b: z.int().optional() }).default({ a: 'y' }),
    expected: {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'integer', format: 'int64' } },
      default: { a: 'y' },
    },
  },
];

const refused: { readonly name: string; readonly schema: z.ZodType; readonly field: string }[] = [
  { name: 'a date', schema: z.object({ at: z.date() }), field: 'spec.at' },
  { name: 'a set', schema: z.object({ a: z.array(z.set(z.string())) }), field: 'spec.a[]' },
  { name: 'a bigint', schema: z.object({ items: z.record(z.string(), z.bigint()) }), field: 'spec.items.*' },
  { name: 'a tuple', schema: z.object({ a: z.tuple([z.string(), z.int()]) }), field: 'spec.a' },
  { name: 'a map with checked keys', schema: z.object({ a: z.record(z.string().min(1), z.int()) }), field: 'spec.a' },
  { name: 'a map with an enum of keys', schema: z.object({ a: z.record(z.enum(['x']), z.int()) }), field: 'spec.a' },
  { name: 'a pattern with a back-reference', schema: z.object({ a: z.string().regex(/(a)\1/) }), field: 'spec.a' },
  { name: 'an ISO 8601 duration', schema: z.object({ a: z.iso.duration() }), field: 'spec.a' },
  { name: 'a format that only code can check', schema: z.object({ a: z.jwt() }), field: 'spec.a' },
  { name: 'a URL with a protocol', schema: z.object({ a: z.url({ protocol: /^https$/ }) }), field: 'spec.a' },
  { name: 'a default that is not valid', schema: z.object({ a: z.string().min(3).default('a') }), field: 'spec.a' },
  { name: 'a default of null', schema: z.object({ a: z.string().nullable().default(null) }), field: 'spec.a' },
  {
    name: 'a default with unknown fields',
    schema: z.object({ a: z.object({ b: z.string() }).default({ b: 'x', c: 1 } as { b: string }) }),
    field: 'spec.a',
  },
  {
    name: 'a default in one alternative',
    schema: z.object({
      a: z.discriminatedUnion('type', [
        z.object({ type: z.literal('x'), size: z.int().default(1) }),
        z.object({ type: z.literal('y') }),
      ]),
    }),
    field: 'spec.a.size',
  },
  {
    name: 'an extension of one alternative',
    schema: z.object({
      a: z.union([
        z.object({ b: z.string() }).meta({ 'x-kubernetes-validations': [{ rule: 'true' }] }),
        z.object({ c: z.string() }),
      ]),
    }),
    field: 'spec.a',
  },
  { name: 'null in an enum', schema: z.object({ a: z.enum(['x']).nullable() }), field: 'spec.a' },
  { name: 'null alone', schema: z.object({ a: z.null() }), field: 'spec.a' },
  { name: 'unique items', schema: z.object({ a: z.array(z.string()).meta({ uniqueItems: true }) }), field: 'spec.a' },
  {
    name: 'an extension that does not exist',
    schema: z.object({ a: z.string().meta({ 'x-kubernetes-validation': [] }) }),
    field: 'spec.a',
  },
  {
    name: 'a key of a list that is optional',
    schema: z.object({
      a: z
        .array(z.object({ k: z.string().optional() }))
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    }),
    field: 'spec.a',
  },
  {
    name: 'a set of objects',
    schema: z.object({ a: z.array(z.object({ k: z.string() })).meta({ 'x-kubernetes-list-type': 'set' }) }),
    field: 'spec.a',
  },
  { name: 'a transform', schema: z.object({ a: z.string().transform(Number) }), field: 'spec.a' },
  { name: 'a transform in a list', schema: z.object({ a: z.array(z.string().transform(Number)) }), field: 'spec.a[]' },
  { name: 'a codec', schema: z.object({ a: z.stringbool() }), field: 'spec.a' },
  { name: 'a trimmed string', schema: z.object({ a: z.string().trim() }), field: 'spec.a' },
  { name: 'a refinement', schema: z.object({ a: z.string().refine((a) => a !== 'x') }), field: 'spec.a' },
  {
    name: 'a refinement of the whole',
    schema: z.object({
      a: z.record(
        z.string(),
        z.object({ b: z.string() }).refine(() => true),
      ),
    }),
    field: 'spec.a.*',
  },
  {
    name: 'a string that is said to be a number, too',
    schema: z.object({ a: z.string().meta({ 'x-kubernetes-int-or-string': true }) }),
    field: 'spec.a',
  },
  { name: 'a recursive schema', schema: recursive(), field: 'spec.child: a definition cannot be recursive' },
  {
    name: 'a recursive schema in a list',
    schema: z.object({ a: z.array(recursive()) }),
    field: 'spec.a[]: a definition cannot be recursive: use z.unknown() for the inner part',
  },
  { name: 'any JSON', schema: z.object({ a: z.json() }), field: 'spec.a: a definition cannot be recursive' },
  {
    name: 'a field of two types in a union',
    schema: z.object({ a: z.union([z.object({ title: z.string() }), z.object({ title: z.boolean() })]) }),
    field: 'spec.a.title: has different types in a union',
  },
  {
    name: 'a default in a union of strings',
    schema: z.object({ a: z.union([z.ipv4(), z.ipv6().default('::1')]) }),
    field: 'spec.a: an alternative of a union cannot have default',
  },
  {
    name: 'a union of integers of several sizes',
    schema: z.object({ a: z.union([z.int32(), z.int()]) }),
    field: 'spec.a: the alternatives of a union must have the same format',
  },
  {
    name: 'a union of lists',
    schema: z.object({ a: z.union([z.array(z.string()), z.array(z.int())]) }),
    field: 'spec.a: a union of array is not structural',
  },
  {
    name: 'a union with anything',
    schema: z.object({ a: z.union([z.unknown(), z.string()]) }),
    field: 'spec.a: a union of anything and string is not structural',
  },
  { name: 'a pattern that looks ahead', schema: z.object({ a: z.string().regex(/(?=a)/) }), field: 'spec.a' },
  {
    name: 'a union of a list and a string',
    schema: z.object({ a: z.union([z.array(z.string()), z.string()]) }),
    field: 'spec.a',
  },
];

function recursive(): z.ZodType {
  const tree = z.object({
    get child() {
      return tree.optional();
    },
  });
  return tree;
}

describe('structuralSchema', () => {
  for (const { name, schema, expected } of rows) {
    test(name, () => expect(structuralSchema(schema, 'spec')).toEqual(expected));
  }
  for (const { name, schema, field } of refused) {
    test(`refuses ${name}, and names the field`, () => {
      expect(() => structuralSchema(schema, 'spec')).toThrow(DefinitionError);
      expect(() => structuralSchema(schema, 'spec')).toThrow(new RegExp(`^${RegExp.escape(field)}`));
    });
  }
});
