import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { DefinitionError } from './definition-error.ts';
import { structuralSchema } from './structural-schema.ts';

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
    name: 'a number or a string',
    schema: z.union([z.int(), z.string()]),
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
    name: 'a union of objects of which several may match',
    schema: z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.string() })]),
    expected: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['a', 'b'] }],
    },
  },
];

const refused: { readonly name: string; readonly schema: z.ZodType; readonly field: string }[] = [
  { name: 'a date', schema: z.object({ at: z.date() }), field: 'spec' },
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
  { name: 'a recursive schema', schema: recursive(), field: 'spec' },
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
