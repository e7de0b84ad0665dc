import type { ErrorDetail } from '../../../schemas/error.ts'
import type { FieldCheck, NewField } from '../../../schemas/new-table.ts'
import type { JsonType } from '../../../schemas/table.ts'
import { storedTypeOf } from '../../model/column-types.ts'
import type { Checks } from '../../model/table.ts'

type CheckName = keyof FieldCheck

const NUMERIC: readonly CheckName[] = ['minimum', 'maximum', 'enum']
const TEXTUAL: readonly CheckName[] = ['minLength', 'maxLength', 'enum']

/** The rules that a field of this type can have: those that SQLite compares as JSON Schema does. */
const applicable = ({ jsonType, sqliteType = storedTypeOf[jsonType] }: NewField): readonly CheckName[] => {
  if (jsonType === 'integer' || jsonType === 'number') return NUMERIC
  return jsonType === 'string' && sqliteType === 'TEXT' ? TEXTUAL : []
}

/** Whether a value can be in the list of allowed values. A wider integer has no exact literal. */
const isListable = (value: unknown, jsonType: JsonType) => {
  if (jsonType === 'string') return typeof value === 'string'
  const isFraction = jsonType === 'number' && !Number.isInteger(value)
  return typeof value === 'number' && (Number.isSafeInteger(value) || isFraction)
}

interface Problem extends Omit<ErrorDetail, 'path'> {
  readonly name: CheckName
}

const problem = (name: CheckName, code: string, message: string): Problem => ({ name, code, message })

const typeProblems = (field: NewField, names: readonly CheckName[]) => {
  const allowed = applicable(field)
  return names
    .filter((name) => !allowed.includes(name))
    .map((name) => problem(name, 'type', `'${field.name}' cannot have the rule ${name}, because of its type.`))
}

const valueProblems = ({ name, jsonType }: NewField, check: FieldCheck): readonly Problem[] => {
  const bounds = (['minimum', 'maximum'] as const).filter(
    (bound) => jsonType === 'integer' && check[bound] !== undefined && !Number.isInteger(check[bound])
  )
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = check
  return [
    ...bounds.map((bound) => problem(bound, 'type', `The ${bound} of '${name}' must be an integer.`)),
    ...(minimum > maximum ? [problem('minimum', 'range', `The minimum of '${name}' is above its maximum.`)] : []),
    ...(minLength > maxLength
      ? [problem('minLength', 'range', `The minLength of '${name}' is above its maxLength.`)]
      : []),
    ...(check.enum?.every((value) => isListable(value, jsonType)) === false
      ? [problem('enum', 'type', `Each value of '${name}' must be of its type, and exact as a JSON number.`)]
      : [])
  ]
}

/** Returns what is wrong with the rules of a field. `path`: where the field is in the request. */
export const checkViolations = (field: NewField, path: string): ErrorDetail[] => {
  const { check } = field
  if (!check) return []
  const types = typeProblems(field, Object.keys(check) as CheckName[])
  const problems = types.length > 0 ? types : valueProblems(field, check)
  return problems.map(({ name, code, message }) => ({ path: `${path}/check/${name}`, code, message }))
}

/** Returns the rules as the table will show them. */
export const declaredChecks = ({ check }: NewField): Checks => {
  if (!check) return {}
  const { enum: values, ...bounds } = check
  return { ...bounds, ...(values && { allowedValues: [...new Set(values)] }) }
}

const isBetween = (value: number, minimum = -Infinity, maximum = Infinity) => value >= minimum && value <= maximum

/** Whether a JSON value of the field's type, other than null, passes the rules. */
export const passes = (value: unknown, checks: Checks): boolean => {
  const { allowedValues, minimum, maximum, minLength, maxLength } = checks
  const hasBounds = minimum !== undefined || maximum !== undefined
  const hasLength = minLength !== undefined || maxLength !== undefined
  return (
    (allowedValues?.includes(value) ?? true) &&
    isBetween(hasBounds ? Number(value) : 0, minimum, maximum) &&
    isBetween(hasLength ? [...String(value)].length : 0, minLength, maxLength)
  )
}
