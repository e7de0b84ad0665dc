import { MAX_VALUES, type Operand, operators } from '../../schemas/query.ts'
import type { IntegerFormat } from '../../schemas/token.ts'
import { integerSchema } from '../model/kinds/integer.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import { foldName } from '../model/names.ts'
import type { Column } from '../model/table.ts'
import type { Json } from './json.ts'
import { expandOperand, expandSchema } from './typed-expansions.ts'
import {
  closedObject,
  envelopeOf,
  int32,
  int64,
  objectOf,
  refTo,
  type TypedTable,
  WIDE_INTEGER
} from './typed-schemas.ts'

/** Returns the condition of the generic document, for values of one type. */
const conditionOn = (value: Json, hasText: boolean, description: string): Json => {
  const operands: Readonly<Record<Operand, Json>> = {
    value,
    range: { type: 'array', items: value, minItems: 2, maxItems: 2 },
    values: { type: 'array', items: value, maxItems: MAX_VALUES },
    text: { type: 'string', minLength: 1 },
    boolean: { type: 'boolean' }
  }
  const properties = Object.entries(operators)
    .filter(([, { operand }]) => hasText || operand !== 'text')
    .map(([name, { operand, description: meaning }]) => [name, { ...operands[operand], description: meaning }] as const)
  return closedObject(objectOf(properties), [], `${description} With several operators, all of them must hold.`)
}

const NULL_HINT = 'null is no value: use `isNull`.'

/** Returns the conditions that all tables share, by their names: see `SHARED_CONDITIONS`. */
const conditionSchemas = (integers: IntegerFormat): Json => {
  const wideInteger = integers === 'auto' ? ` ${WIDE_INTEGER}` : ''
  const wideNumber = integers === 'number' ? '' : ' For a NUMERIC column, an integer beyond ±(2^53−1) is decimal text.'
  return {
    IntegerCondition: conditionOn(integerSchema(integers), false, `A condition on an integer.${wideInteger}`),
    NumberCondition: conditionOn({ type: 'number', format: 'double' }, false, `A condition on a number.${wideNumber}`),
    TextCondition: conditionOn({ type: 'string' }, true, 'A condition on a text.'),
    BooleanCondition: conditionOn({ type: 'boolean' }, false, 'A condition on a boolean.'),
    ValueCondition: conditionOn({}, false, `A condition on base64 text, an object or an array. ${NULL_HINT}`),
    MixedCondition: conditionOn({}, true, `A condition on a text or a number. ${NULL_HINT}`)
  }
}

/** A value to compare is checked like a value to store. So its type is that of the field, whatever is stored. */
const conditionName = (column: Column) => {
  const { name, isNumeric, isTextual } = kindOf(column)
  if (isNumeric) return name === 'integer' ? 'IntegerCondition' : 'NumberCondition'
  if (isTextual) return name === 'text' ? 'TextCondition' : 'MixedCondition'
  return name === 'boolean' ? 'BooleanCondition' : 'ValueCondition'
}

const filterSchema = (name: string): Json => {
  const filters = { type: 'array', items: refTo(`${name}Filter`) }
  return closedObject(
    {
      where: refTo(`${name}Where`),
      all: filters,
      any: filters,
      none: filters
    },
    [],
    'All parts must match.'
  )
}

const bodySchema = (typed: TypedTable, name: string): Json =>
  closedObject(
    {
      filter: refTo(`${name}Filter`),
      q: { type: 'string', maxLength: 255, description: 'Text or number to find.' },
      order: { type: 'string', description: 'As `order` of a list.' },
      ...(typed.expansions.size > 0 && { expand: expandOperand(typed) }),
      size: { ...int32('Maximum of rows.'), minimum: 1 },
      cursor: { type: 'string', description: '`next` of the previous page.' },
      total: { type: 'boolean', description: 'true: counts the records, too.' }
    },
    []
  )

const pageSchema = (name: string): Json =>
  closedObject(
    {
      rows: { type: 'array', items: refTo(name) },
      next: { type: ['string', 'null'], description: 'null: the last page.' },
      size: int32(),
      total: int64('Only with `total: true`.')
    },
    ['rows', 'next', 'size']
  )

const querySchemas = (typed: TypedTable): Json => {
  const { table, columns, expansions } = typed
  const name = table.choices.clientName
  const where = objectOf(columns.map((column) => [column.name, refTo(conditionName(column))]))
  return {
    [`${name}Query`]: bodySchema(typed, name),
    [`${name}Filter`]: filterSchema(name),
    [`${name}Where`]: closedObject(where, []),
    [`${name}QueryPage`]: pageSchema(name),
    [`${name}QueryPageEnvelope`]: envelopeOf(refTo(`${name}QueryPage`)),
    ...(expansions.size > 0 && { [`${name}Expand`]: expandSchema(typed) })
  }
}

/** The schemas of the query of one table. */
export interface TypedQuery {
  /** The names of the schemas of the bodies. */
  readonly request: string
  readonly response: string
  readonly schemas: Json
  /** Whether a record of the response can have the records to which it refers. */
  readonly hasExpansions: boolean
  /** The schemas that tables share. */
  readonly conditions: Json
}

/** The query of the generic document, which has no names of its own for each table. */
const GENERIC: TypedQuery = {
  request: 'TableRecordQuery',
  response: 'TableRecordQueryPageEnvelope',
  schemas: {},
  hasExpansions: false,
  conditions: {}
}

/**
 * Returns the query with the types of the fields. If another table of the document has one of its names, returns the
 * query of the generic document: a table may be older than the suffixes of these names, and keeps its name.
 * `clientNames`: the folded names of all tables of the document.
 */
export const typedQuery = (typed: TypedTable, clientNames: ReadonlySet<string>): TypedQuery => {
  const name = typed.table.choices.clientName
  const schemas = querySchemas(typed)
  const conditions = conditionSchemas(typed.integers)
  const isTaken = [...Object.keys(schemas), ...Object.keys(conditions)].some((key) => clientNames.has(foldName(key)))
  if (isTaken) return GENERIC
  return {
    request: `${name}Query`,
    response: `${name}QueryPageEnvelope`,
    schemas,
    hasExpansions: typed.expansions.size > 0,
    conditions
  }
}
