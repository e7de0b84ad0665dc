import { identifier } from '../../sql/identifiers.ts'
import { isKeyword, nameIn, textIn, tokenTexts } from '../../sql/lexer.ts'
import type { Connection } from '../shared/connection.ts'
import { toPlainError } from '../shared/plain-error.ts'

/** A table, index, view or trigger that SQLite cannot compile. */
export interface BrokenObject {
  readonly type: string
  readonly name: string
  /** SQLite's message. */
  readonly reason: string
}

interface Declared {
  readonly type: string
  readonly name: string
  readonly tableName: string
  readonly sql: string
}

/** The result of compiling each declaration of a file. */
export interface Compilation {
  readonly broken: readonly BrokenObject[]
  /** The names of the columns of each view that compiles. */
  readonly columnsOfViews: ReadonlyMap<string, readonly string[]>
}

const DECLARED = `SELECT type, name, tbl_name AS tableName, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`

const COLUMNS = 'SELECT name FROM temp.pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid'

const EVENTS = ['INSERT', 'UPDATE', 'DELETE']

/** Returns the columns of `UPDATE OF a, b ON`, or undefined for other triggers. */
const updatedColumns = (tokens: readonly string[], event: number) => {
  if (!isKeyword(tokens[event + 1], 'OF')) return undefined
  const end = tokens.findIndex((token, index) => index > event && isKeyword(token, 'ON'))
  return tokens.slice(event + 2, end).flatMap((token) => nameIn(token) ?? textIn(token) ?? [])
}

const updateOf = (table: string, columns: readonly string[]) => {
  const sets = columns.map((column) => `${identifier(column)} = ${identifier(column)}`)
  return `UPDATE ${identifier(table)} SET ${sets.join(', ')}`
}

/** Compiles the declarations one by one. Nothing changes: `raw` is the connection of a copy, in which no row is read. */
export const compileAll = ({ raw, run, rows }: Connection): Compilation => {
  const columnsOf = (table: string) => rows(COLUMNS, [table]).map(({ name }) => String(name))

  /** Compiles a statement with the programs of its triggers and foreign keys. */
  const compile = (sql: string) => raw.exec(`EXPLAIN ${sql}`)

  const compileTable = ({ name, sql }: Declared) => {
    compile(`SELECT * FROM ${identifier(name)}`)
    if (/^create virtual/i.test(sql)) return
    compile(`INSERT INTO ${identifier(name)} DEFAULT VALUES`)
    compile(`DELETE FROM ${identifier(name)}`)
    compile(updateOf(name, columnsOf(name)))
  }

  /** Creates the index again: SQLite loads an index that it would not create, or skips it. */
  const compileIndex = ({ name, sql }: Declared) => {
    run(`DROP INDEX IF EXISTS ${identifier(name)}`, [])
    raw.exec(sql)
  }

  const firing = ({ tableName, sql }: Declared) => {
    const tokens = tokenTexts(sql)
    const event = tokens.findIndex((token) => EVENTS.some((word) => isKeyword(token, word)))
    if (isKeyword(tokens[event], 'INSERT')) return `INSERT INTO ${identifier(tableName)} DEFAULT VALUES`
    if (isKeyword(tokens[event], 'DELETE')) return `DELETE FROM ${identifier(tableName)}`
    return updateOf(tableName, updatedColumns(tokens, event) ?? columnsOf(tableName).slice(0, 1))
  }

  /** SQLite does not name the trigger in its error, so it is the only trigger during the compilation. */
  const compileTrigger = (trigger: Declared) => {
    raw.exec(trigger.sql)
    try {
      compile(firing(trigger))
    } finally {
      run(`DROP TRIGGER ${identifier(trigger.name)}`, [])
    }
  }

  const compilers: Record<string, (declared: Declared) => void> = {
    table: compileTable,
    index: compileIndex,
    view: ({ name }) => compile(`SELECT * FROM ${identifier(name)}`),
    trigger: compileTrigger
  }

  const compileEach = () => {
    const declared = rows(DECLARED, []) as unknown as readonly Declared[]
    for (const { type, name } of declared) if (type === 'trigger') run(`DROP TRIGGER ${identifier(name)}`, [])
    const broken = declared.flatMap((object): BrokenObject[] => {
      const { type, name } = object
      try {
        compilers[type]?.(object)
        return []
      } catch (error) {
        return [{ type, name, reason: toPlainError(error).message }]
      }
    })
    const views = declared.filter(({ type, name }) => type === 'view' && !broken.some((other) => other.name === name))
    return { broken, columnsOfViews: new Map(views.map(({ name }) => [name, columnsOf(name)])) }
  }

  raw.exec('BEGIN')
  try {
    return compileEach()
  } finally {
    raw.exec('ROLLBACK')
  }
}
