import { knownName, knownOperator } from '../../../schemas/other-names.ts'
import { type Operand, type Operator, operators } from '../../../schemas/query.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid, pointer } from '../../model/errors.ts'
import { foldName, splitPaths } from '../../model/names.ts'
import {
  type Properties,
  parametersHint,
  type Suggestions,
  suggestionHint,
  suggestNames,
  suggestOperator
} from '../../model/suggestions.ts'
import type { Column } from '../../model/table.ts'
import { checkValue } from '../../model/values.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { referencesHint, suggestExpansion } from './reference-names.ts'

type SentParameters = Readonly<Record<string, unknown>>

/** A condition in the form of another service: `price=5`, `price__gte=5`, `price[gte]=5` or `price=not.gte.5`. */
interface SentCondition {
  readonly column: Column
  readonly operator: string
  readonly text: string
  readonly isNegated: boolean
}

const OPERATORS = Object.keys(operators) as Operator[]

const findColumn = ({ columns }: Access, name: string) =>
  columns.get(name) ?? [...columns.values()].find((column) => foldName(column.name) === foldName(name))

/** Returns the visible column that a parameter names, and the operator after its name. */
const readName = (access: Access, name: string) => {
  const column = findColumn(access, name)
  if (column) return { column, operator: 'eq' }
  const [, field = '', operator = ''] = /^(.*)[[_.]([^[\]_.]+)\]?$/s.exec(name) ?? []
  const before = findColumn(access, field) ?? findColumn(access, field.replace(/_$/, ''))
  return before && knownOperator(operator, OPERATORS) ? { column: before, operator } : undefined
}

/** Returns the parts of `gte.5` and `not.eq.5`; undefined for another text. */
const readValue = (text: string) => {
  const [, not, operator = '', operand = ''] = /^(not\.)?([a-z]+)(?:\([a-z]*\))?\.(.*)$/s.exec(text) ?? []
  return knownOperator(operator, OPERATORS) ? { operator, text: operand, isNegated: not !== undefined } : undefined
}

/** Returns the conditions of a parameter. It may occur several times. */
const readConditions = (access: Access, name: string, sent: SentParameters): readonly SentCondition[] => {
  const found = readName(access, name)
  if (!found) return []
  const texts = [sent[name]].flat().map(String)
  return texts.map((text) => ({ ...found, text, isNegated: false, ...readValue(text) }))
}

const BOOLEANS: Readonly<Record<string, readonly unknown[]>> = { true: [true, 1], false: [false, 0] }

const numbersIn = (text: string) => (text.trim() !== '' && Number.isFinite(Number(text)) ? [Number(text)] : [])

/** Returns the JSON value of a text that the field accepts; the text itself if there is none. */
const toFieldValue = ({ column, text }: SentCondition, { integers }: Access): unknown => {
  const values = [text, ...numbersIn(text), ...(BOOLEANS[text] ?? [])]
  return values.find((value) => 'value' in checkValue(column, value, integers)) ?? text
}

const toFieldValues = (sent: SentCondition, access: Access) =>
  sent.text
    .replaceAll(/^\(|\)$/g, '')
    .split(',')
    .map((text) => toFieldValue({ ...sent, text }, access))

const toOperand: Record<Operand, (sent: SentCondition, access: Access) => unknown> = {
  value: toFieldValue,
  range: toFieldValues,
  values: toFieldValues,
  text: ({ text }) => text,
  boolean: ({ text }) => text !== 'false'
}

const NEGATED: Partial<Record<Operator, Operator>> = {
  eq: 'ne',
  in: 'notIn',
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt'
}

const NULLS = ['null', 'not_null']

/** Returns the condition that does the same; undefined if none does. */
const toCondition = (sent: SentCondition, access: Access) => {
  const { operator, text, isNegated } = sent
  if (operator === 'is' && NULLS.includes(text)) return { isNull: (text === 'null') !== isNegated }
  const known = knownOperator(operator, OPERATORS) as Operator
  const applied = isNegated ? NEGATED[known] : known
  return applied && suggestOperator(applied, toOperand[operators[applied].operand](sent, access))
}

/** Returns the filter of the parameters that name fields; undefined without any. */
const toFilter = (access: Access, sent: SentParameters, names: readonly string[]) => {
  const where = new Map<string, object>()
  for (const condition of names.flatMap((name) => readConditions(access, name, sent))) {
    const { name } = condition.column
    where.set(name, { ...where.get(name), ...toCondition(condition, access) })
  }
  return where.size === 0 ? undefined : { where: Object.fromEntries(where) }
}

/** Returns the paths of records that `include=customers`, or `select=id,customers(name)` names. */
const readPaths = (name: string, sent: unknown, names: readonly string[]): readonly string[] => {
  const paths = splitPaths([sent].flat().join())
  const known = knownName(name, names)
  if (known === 'fields') return paths.filter((path) => path.includes('('))
  return known === 'expand' ? paths : []
}

interface ParameterContext {
  readonly access: Access
  readonly readable: ReadableTables
}

/** Adds the expansions for the records that the request names, or the fields that refer to records. */
const addExpansions = (
  { values, notes }: Suggestions,
  paths: readonly string[],
  { access, readable }: ParameterContext
): Suggestions => {
  if (paths.length === 0) return { values, notes }
  const expanded = paths.flatMap((path) => suggestExpansion(access, path, readable) ?? [])
  const known = [...values].filter(([, value]) => value !== undefined)
  return {
    values: new Map([...known, ...(expanded.length > 0 ? [['expand', expanded] as const] : [])]),
    notes: expanded.length < paths.length ? [...notes, referencesHint(access, readable)] : notes
  }
}

/** A field of the table wins over a name of another service: a field can be named `text`. */
const suggestParameters = (
  context: ParameterContext,
  sent: SentParameters,
  unknown: readonly string[],
  properties: Properties
) => {
  const { access } = context
  const names = Object.keys(properties)
  const others = unknown.filter((name) => !readName(access, name))
  const paths = names.includes('expand') ? others.flatMap((name) => readPaths(name, sent[name], names)) : []
  const { values, notes } = addExpansions(suggestNames(sent, others, names), paths, context)
  const filter = toFilter(access, sent, unknown)
  return suggestionHint(
    'query',
    { values: filter ? new Map([...values, ['filter', filter]]) : values, notes },
    properties
  )
}

/**
 * Checks that a list has all of these parameters. The hint shows the request that works, with the fields that the caller
 * sees. So it runs after the check of the right.
 * @throws VALIDATION_FAILED
 */
export const checkParameters = (context: ParameterContext, sent: SentParameters, properties: Properties) => {
  const names = Object.keys(properties)
  const unknown = Object.keys(sent).filter((name) => !names.includes(name))
  const [first] = unknown
  if (first === undefined) return
  const hint = suggestParameters(context, sent, unknown, properties) ?? suggestName(first, names)
  const details = unknown.map(excerpt).map((name) => ({
    path: pointer(name),
    code: 'unknown',
    message: `'${name}' is unknown.`
  }))
  throw invalid(details, [hint ?? [], parametersHint(names)].flat().join(' '))
}
