import { resolve, type Schema } from './openapi-document.ts'
import type { Random } from './random.ts'

const WORDS = [
  'a',
  'cats',
  'order',
  'Select',
  'x_1',
  'Tom & Jérôme',
  '猫',
  '-12',
  '9007199254740993',
  '1.5',
  ' ',
  '*',
  '%_\\'
]

/** Strings that are known to cause errors in software. */
const UNUSUAL_STRINGS = [
  '',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202e\ufeff',
  '\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  "' OR 1=1 --",
  '";DROP TABLE cats;--',
  '#{7*7}{{7*7}}',
  '=1+1',
  'İß',
  '👩‍👩‍👧',
  '1e400',
  'NaN',
  '0x10',
  '01',
  '99999999999999999999',
  'x'.repeat(101),
  'x'.repeat(5000),
  '€'.repeat(9000)
]

const UNUSUAL_NUMBERS = [0, -0, 1, -1, 0.1, 1e-320, 1e21, 1e308, 2 ** 31, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64]

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
const SHAPES = [null, true, false, [], {}, [null], [[]], { a: 1 }, { length: 1 }, nested(99), nested(101), nested(1000)]

export const unusualString = ({ pick }: Random) => pick(UNUSUAL_STRINGS)

export const unusualValue = (random: Random): unknown =>
  random.pick([() => random.pick(UNUSUAL_STRINGS), () => random.pick(UNUSUAL_NUMBERS), () => random.pick(SHAPES)])()

/** Returns a name that is almost certainly new. */
export const newName = ({ below }: Random) => `t${below(2 ** 32).toString(36)}`

const stringOf = (schema: Schema, random: Random) => {
  const examples = (schema.examples ?? []).map(String)
  const candidates = [...WORDS, newName(random), ...examples]
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  const fits = (text: string) => text.length >= (schema.minLength ?? 0) && (pattern?.test(text) ?? true)
  return random.pick(candidates.filter(fits))
}

const objectOf = ({ properties = {}, required = [] }: Schema, random: Random) => {
  const sent = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.5))
  return Object.fromEntries(sent.map(([name, schema]) => [name, sample(schema, random)]))
}

const anyValue = ({ pick }: Random): unknown => pick([null, true, 1, 0.5, 'text', ['a'], { a: 1 }])

const byType: Record<string, (schema: Schema, random: Random) => unknown> = {
  string: stringOf,
  integer: (_, { below }) => 1 + below(100),
  number: (_, { below }) => below(1000) / 8,
  boolean: (_, { chance }) => chance(0.5),
  null: () => null,
  array: ({ items = {} }, random) => {
    // A filter contains filters: fewer than one on average, so that it ends.
    const length = items.$ref === undefined ? 1 + random.below(3) : random.below(2)
    return Array.from({ length }, () => sample(items, random))
  },
  object: objectOf
}

/** Returns a random value that matches the schema. */
export const sample = (reference: Schema, random: Random): unknown => {
  const schema = resolve(reference)
  if (schema.enum) return random.pick(schema.enum)
  const type = typeof schema.type === 'string' ? schema.type : schema.type && random.pick(schema.type)
  return type === undefined ? anyValue(random) : byType[type]?.(schema, random)
}
