import { MAX_AGGREGATE_ROWS } from '../../schemas/aggregate.ts'
import { canBeAdded, canBeDates } from '../model/kinds/aggregates.ts'
import { foldName } from '../model/names.ts'
import type { Column } from '../model/table.ts'
import type { Json } from './json.ts'
import type { TypedQuery } from './typed-queries.ts'
import { closedObject, fieldName, int32, refTo, type TypedTable } from './typed-schemas.ts'

const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)

const functionSchema = (typed: TypedTable): Json => {
  const { columns, table } = typed
  const numbers = namesOf(columns.filter((column) => canBeAdded(table.structure, column)))
  const fields = fieldName(namesOf(columns))
  return closedObject(
    {
      count: { type: 'boolean' },
      ...(numbers.length > 0 && { sum: fieldName(numbers), avg: fieldName(numbers) }),
      min: fields,
      max: fields,
      countDistinct: fields
    },
    [],
    'Exactly one of these.'
  )
}

const periodSchema = (dates: readonly Column[]): Json =>
  closedObject({ field: fieldName(namesOf(dates)), unit: refTo('TableRecordAggregateUnit') }, ['field', 'unit'])

const bodySchema = (typed: TypedTable, name: string, hasPeriod: boolean): Json =>
  closedObject(
    {
      filter: refTo(`${name}Filter`),
      q: { type: 'string', maxLength: 255 },
      groupBy: { type: 'array', items: fieldName(namesOf(typed.columns)) },
      ...(hasPeriod && { by: refTo(`${name}AggregatePeriod`) }),
      compute: {
        type: 'object',
        additionalProperties: refTo(`${name}AggregateFunction`),
        description: 'Values by their names in the rows.'
      },
      having: { type: 'object', additionalProperties: refTo('TableRecordCondition') },
      order: { type: 'string', description: 'Names of computed values and groups.' },
      size: { ...int32(), minimum: 1, maximum: MAX_AGGREGATE_ROWS }
    },
    ['compute']
  )

const aggregateSchemas = (typed: TypedTable): Json => {
  const name = typed.table.choices.clientName
  const dates = typed.columns.filter(canBeDates)
  return {
    [`${name}Aggregate`]: bodySchema(typed, name, dates.length > 0),
    [`${name}AggregateFunction`]: functionSchema(typed),
    ...(dates.length > 0 && { [`${name}AggregatePeriod`]: periodSchema(dates) })
  }
}

/** The body of an aggregate. */
export interface TypedAggregate {
  /** The name of its schema. */
  readonly request: string
  readonly schemas: Json
}

/** The body of the generic document, which has no names of its own for each table. */
const GENERIC: TypedAggregate = { request: 'TableRecordAggregate', schemas: {} }

/**
 * Returns the body with the names of the fields. Returns the body of the generic document if another table of the
 * document has one of its names, or if the query has no filter of the table: see `typedQuery`.
 */
export const typedAggregate = (
  typed: TypedTable,
  clientNames: ReadonlySet<string>,
  query: TypedQuery
): TypedAggregate => {
  const name = typed.table.choices.clientName
  const schemas = aggregateSchemas(typed)
  const isTaken = Object.keys(schemas).some((key) => clientNames.has(foldName(key)))
  return isTaken || !(`${name}Filter` in query.schemas) ? GENERIC : { request: `${name}Aggregate`, schemas }
}
