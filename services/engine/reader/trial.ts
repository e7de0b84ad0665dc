import { selectAllDeclarations } from '../../sql/alter.ts'
import type { Declared } from '../../sql/declared.ts'
import { identifier } from '../../sql/identifiers.ts'
import type { Unit, UnitOptions } from '../../sql/statement.ts'
import { type Connection, openConnection } from '../shared/connection.ts'
import { readInTheWay } from '../shared/in-the-way.ts'
import { type PlainError, toPlainError } from '../shared/plain-error.ts'
import { type BrokenObject, type Compilation, compileAll } from './compilation.ts'
import { copySchema, readDeclared } from './schema-copy.ts'

/** The schema of which a copy is made, in one snapshot. */
export interface TrialSource {
  /** The result of `selectAllDeclarations`. */
  readonly declarations: string
  readonly rows: readonly Declared[]
}

/** A unit that changes the structure, to be tried on a copy of the schema. */
export interface TrialRequest {
  readonly trial: Unit
  readonly options?: UnitOptions | undefined
  /** Absent: the schema of the file. */
  readonly source?: TrialSource | undefined
}

/** A view whose columns have other names after the change. */
export interface ChangedView {
  readonly name: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export interface Trial {
  /** The declarations of the schema that was tried: see `expectDeclarations`. */
  readonly declarations: string
  /** What compiles before the change, and not after it. */
  readonly broken: readonly BrokenObject[]
  /** Whether the file has views or triggers that name something that does not exist. They do not prevent the change. */
  readonly hasBroken: boolean
  readonly changedViews: readonly ChangedView[]
}

export type TrialOutcome = { readonly trial: Trial } | { readonly error: PlainError }

/** The object may work in another program, which has the function, or takes "text" for a text. */
const WORKS_ELSEWHERE =
  /^no such (?:function|collation sequence|module)|^unknown function|^unsafe use of|single-quotes\?$/

const isUseless = ({ type, reason }: BrokenObject) =>
  (type === 'view' || type === 'trigger') && !WORKS_ELSEWHERE.test(reason)

const keyOf = ({ type, name }: Pick<BrokenObject, 'type' | 'name'>) => `${type} ${name}`

/** Returns what is broken now, and was not before. */
const newlyBroken = (before: Compilation, after: Compilation) => {
  const known = new Set(before.broken.map(keyOf))
  return after.broken.filter((object) => !known.has(keyOf(object)))
}

const changedViews = (before: Compilation, after: Compilation): ChangedView[] =>
  [...before.columnsOfViews].flatMap(([name, columns]) => {
    const changed = after.columnsOfViews.get(name)
    return changed && changed.join('\0') !== columns.join('\0') ? [{ name, before: columns, after: changed }] : []
  })

/** Runs the statements without what they expect: the copy has no rows. */
const runUnit = ({ raw, run }: Connection, { trial: unit, options: { foreignKeys = true } = {} }: TrialRequest) => {
  raw.pragma(`foreign_keys = ${foreignKeys ? 'ON' : 'OFF'}`)
  raw.pragma(`legacy_alter_table = ${foreignKeys ? 'OFF' : 'ON'}`)
  raw.exec('BEGIN')
  try {
    for (const [statement, { sql, params }] of unit.entries()) {
      try {
        run(sql, params)
      } catch (error) {
        throw Object.assign(new Error(), toPlainError(error), { statement })
      }
    }
    raw.exec('COMMIT')
  } finally {
    if (raw.inTransaction) raw.exec('ROLLBACK')
    raw.pragma('foreign_keys = ON')
    raw.pragma('legacy_alter_table = OFF')
  }
}

/** SQLite names only the first object that prevents the change. Runs the unit in spite of it, to find all of them. */
const findAllBroken = (copy: Connection, request: TrialRequest, before: Compilation): readonly BrokenObject[] => {
  try {
    copy.raw.pragma('writable_schema = ON')
    runUnit(copy, request)
    return newlyBroken(before, compileAll(copy))
  } catch {
    return []
  }
}

const tryIn = (copy: Connection, request: TrialRequest): Omit<Trial, 'declarations'> => {
  const before = compileAll(copy)
  const useless = before.broken.filter(isUseless)
  // Dropping a view drops its triggers.
  for (const { type, name } of useless) copy.run(`DROP ${type} IF EXISTS ${identifier(name)}`, [])
  const hasBroken = useless.length > 0
  try {
    runUnit(copy, request)
  } catch (error) {
    const first = readInTheWay(toPlainError(error).message)
    const broken = first ? findAllBroken(copy, request, before) : []
    if (!first || broken.length === 0) throw error
    const isListed = broken.some((object) => keyOf(object) === keyOf(first))
    return { broken: isListed ? broken : [first, ...broken], hasBroken, changedViews: [] }
  }
  const after = compileAll(copy)
  return { broken: newlyBroken(before, after), hasBroken, changedViews: changedViews(before, after) }
}

interface TrialOptions {
  readonly file: string
  /** Milliseconds. */
  readonly busyTimeout: number
  /** MiB. */
  readonly cacheSize: number
}

/** Reads the declarations and the rows of the schema in one snapshot. */
const readSource = (options: TrialOptions): TrialSource => {
  const connection = openConnection({ ...options, readonly: true })
  try {
    connection.run('BEGIN', [])
    return {
      declarations: String(connection.value(selectAllDeclarations.sql)),
      rows: readDeclared(connection)
    }
  } finally {
    connection.close()
  }
}

const tryOnCopy = ({ declarations, rows }: TrialSource, request: TrialRequest): Trial => {
  const copy = copySchema(rows)
  try {
    return { declarations, ...tryIn(copy, request) }
  } finally {
    copy.close()
  }
}

/** Runs a unit on a copy of the schema, and compiles each declaration before and after it. */
export const createTrial =
  (options: TrialOptions) =>
  (request: TrialRequest): TrialOutcome => {
    try {
      return { trial: tryOnCopy(request.source ?? readSource(options), request) }
    } catch (error) {
      return { error: toPlainError(error) }
    }
  }
