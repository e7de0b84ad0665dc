import type { Table, TableField } from '../tables/queries.ts'

const EXAMPLES = {
  integer: 1,
  number: 1.5,
  string: 'text',
  boolean: true,
  object: {},
  array: []
} as const satisfies Record<TableField['jsonType'], unknown>

const MAX_FIELDS = 6

/** Bytes are base64 text. */
const BYTES = 'AAEC'

/** Returns a value that the field accepts, as far as its rules are known. */
export const exampleOf = ({
  jsonType,
  sqliteType,
  allowedValues,
  minimum,
  maximum,
  minLength = 0,
  maxLength
}: TableField) => {
  if (allowedValues?.[0] !== undefined) return allowedValues[0]
  if (sqliteType === 'BLOB') return BYTES
  if (jsonType === 'string') return EXAMPLES.string.padEnd(minLength, '.').slice(0, maxLength)
  if (jsonType !== 'integer' && jsonType !== 'number') return EXAMPLES[jsonType]
  return Math.min(
    Math.max(EXAMPLES[jsonType], minimum ?? Number.NEGATIVE_INFINITY),
    maximum ?? Number.POSITIVE_INFINITY
  )
}

const isWritable = ({ isHidden, isReadonly }: TableField) => !isHidden && !isReadonly

/** SQLite generates an integer key. */
const isGenerated = ({ isPrimary, isRequired }: TableField) => isPrimary && !isRequired

const valuesOf = (fields: readonly TableField[]) =>
  Object.fromEntries(fields.map((field) => [field.name, exampleOf(field)]))

/** Returns the values of a new record: all required fields, and some others. */
export const newValues = ({ fields }: Pick<Table, 'fields'>) => {
  const writable = fields.filter((field) => isWritable(field) && !isGenerated(field))
  const required = writable.filter(({ isRequired }) => isRequired)
  const others = writable.filter(({ isRequired }) => !isRequired)
  const chosen = new Set([...required, ...others.slice(0, Math.max(0, MAX_FIELDS - required.length))])
  return valuesOf(writable.filter((field) => chosen.has(field)))
}

/** Returns the first field that an update may change, with a value. */
export const changedValues = ({ fields }: Pick<Table, 'fields'>) =>
  valuesOf(fields.filter((field) => isWritable(field) && !field.isPrimary).slice(0, 1))
