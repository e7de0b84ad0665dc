import type { Claims, Grant } from '../../schemas/role.ts'
import { excerpt } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { Column, RegisteredTable, Registration } from '../model/table.ts'
import { checkValue } from '../model/values.ts'
import type { OpenGrant } from '../records/access/opened.ts'
import { type ComparedColumns, type Parent, readRule } from '../records/read/filter.ts'
import type { Condition, RowRule } from '../sql/conditions.ts'
import type { Assignment } from '../sql/records.ts'
import { withClaims } from './claims.ts'
import { foreignKeysWith } from './grant-fields.ts'

const MISFIT = 'A claim does not have the type of its field, or the role needs a field that the table does not have.'

/** Why a grant opens nothing in a table, as a sentence for administrators. */
export class ClosedGrant extends Error {
  override readonly name = 'ClosedGrant'
  /** The reason as a sentence for the holder of the key, which names no field. */
  readonly forToken: string

  constructor(message: string, forToken = MISFIT) {
    super(message)
    this.forToken = forToken
  }
}

const missingClaims = (names: readonly string[]) => {
  const message = `The token has no claim ${names.map((name) => `'${excerpt(name)}'`).join(', ')}.`
  return new ClosedGrant(message, message)
}

interface CompileOptions {
  readonly claims: Claims
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
}

/** Begins with the reserved prefix, so it hides no served table. */
const ALIAS = '_rowhouse_via'

const columnOf = ({ name: table, structure }: RegisteredTable, name: string): Column => {
  const column = structure.columns.find((other) => foldName(other.name) === foldName(name))
  if (!column) throw new ClosedGrant(`The table '${table}' has no field '${excerpt(name)}'.`)
  return column
}

const readableOf = (table: RegisteredTable, names: readonly string[] | undefined) =>
  names === undefined
    ? null
    : new Set([
        ...table.structure.columns.filter(({ isPrimary }) => isPrimary),
        ...names.map((name) => columnOf(table, name))
      ])

const writableOf = (table: RegisteredTable, names: readonly string[] | undefined) =>
  names === undefined ? null : new Set(names.map((name) => columnOf(table, name)))

const presetOf = (table: RegisteredTable, name: string, value: unknown): Assignment => {
  const column = columnOf(table, name)
  const checked: { value: SqlValue } | { violation: { message: string } } = checkValue(column, value, 'auto')
  if ('violation' in checked) throw new ClosedGrant(`The preset '${excerpt(name)}' ${checked.violation.message}.`)
  return [column, checked.value]
}

/** Returns the only foreign key with these fields. */
const foreignKeyOf = (table: RegisteredTable, fields: string) => {
  const keys = foreignKeysWith(table, fields)
  if (keys.length > 1) throw new ClosedGrant(`'${excerpt(fields)}' has two foreign keys, so \`via\` is ambiguous.`)
  return keys[0]
}

/** @throws ClosedGrant or VALIDATION_FAILED if the grant opens nothing in the table for these claims */
const compile = (
  { rows, fields = {}, presets = {} }: Grant,
  table: RegisteredTable,
  { claims, findTable }: CompileOptions
): OpenGrant => {
  const missing = new Set<string>()
  const rule = withClaims(rows, claims, missing)
  const values = Object.entries(withClaims(presets, claims, missing) as object)
  if (missing.size > 0) throw missingClaims([...missing])
  const parents = new Set<RegisteredTable>()

  const comparedIn = (name: string, owner: RegisteredTable, depth: number): ComparedColumns => ({
    table: { name },
    integers: 'auto',
    columns: new Map(owner.structure.columns.map((column) => [column.name, column])),
    findParent: (foreignKey) => parentOf(owner, foreignKey, depth)
  })

  const parentOf = (child: RegisteredTable, foreignKey: string, depth: number): Parent | undefined => {
    const key = foreignKeyOf(child, foreignKey)
    const parent = key && findTable(key.table)
    if (!key || !parent?.structure || parent.isOutdated) return undefined
    parents.add(parent)
    return { key, compared: comparedIn(`${ALIAS}_${depth + 1}`, parent, depth + 1) }
  }

  const conditions = new Map<string, Condition>()
  const rowRule: RowRule = ({ name }) => {
    const known = conditions.get(name) ?? readRule(comparedIn(name, table, 0), rule)
    conditions.set(name, known)
    return known
  }
  if (rule !== undefined) rowRule(table)
  return {
    rows: rule === undefined ? null : rowRule,
    readable: readableOf(table, fields.read),
    writable: writableOf(table, fields.write),
    presets: values.map(([name, value]) => presetOf(table, name, value)),
    parents: [...parents]
  }
}

/** Compiles a grant. A rule that cannot be compiled opens nothing. */
export const compileGrant = (
  grant: Grant,
  table: RegisteredTable,
  options: CompileOptions
): OpenGrant | ClosedGrant => {
  try {
    return compile(grant, table, options)
  } catch (error) {
    return error instanceof ClosedGrant ? error : new ClosedGrant((error as Error).message)
  }
}
