import type { ErrorDetail } from '../../../schemas/error.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, excerpt, MAX_DETAILS, pointer } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import { checksIn, type DeclaredRule, raisesIn, ruleOfIndex } from '../../sql/declared-rules.ts'
import { selectDeclarations } from '../../sql/introspection.ts'
import type { UnitAssignment } from '../../sql/records.ts'
import type { Access } from '../access/access.ts'
import { brokenReferences } from './references.ts'

const MESSAGES: Record<string, string> = { unique: 'is taken', required: 'must not be null' }

/** A write that failed: the access of its caller, and the values that it would store. */
export interface FailedWrite {
  readonly access: Access
  readonly sent?: readonly UnitAssignment[]
}

const detailsFor = (names: readonly string[], code: string, describe: (name: string) => string): ErrorDetail[] =>
  names.slice(0, MAX_DETAILS).map((name) => ({ path: pointer(name), code, message: describe(`'${name}'`) }))

/**
 * Returns the error with details that name fields of the access. Details of other columns are dropped: hidden columns, and
 * columns of a table that a trigger writes to. The engine reports `table.column`, where both names may contain dots.
 */
const nameColumns = (error: DomainError, { table, columns }: Access) => {
  const fields = new Map([...columns.keys()].map((name) => [foldName(pointer(`${table.name}.${name}`)), name]))
  const named = (error.details ?? []).flatMap(({ path, code }) => {
    const name = fields.get(foldName(path))
    return name === undefined ? [] : { name, code }
  })
  const quoted = named.map(({ name }) => `'${name}'`)
  const describe = (code: string) =>
    quoted.length > 1
      ? `${quoted.join(', ')} together have the values of a stored record.`
      : `${quoted[0]} ${MESSAGES[code]}.`
  const details = named.flatMap(({ name, code }) => detailsFor([name], code, () => describe(code)))
  const { code, message, hint, retryAfter, statement } = error
  return new DomainError(code, message, { details, hint, retryAfter, statement })
}

/** Returns an error that names the rule, and the fields of its expression. */
const describeRule = ({ code, statement }: DomainError, label: string, names: readonly string[]) => {
  const quoted = `'${excerpt(label)}'`
  switch (code) {
    case 'UNIQUE_VIOLATION':
      return new DomainError(code, `A value that must be unique is taken. The unique index is ${quoted}.`, {
        details: detailsFor(
          names,
          'unique',
          (name) => `${name} leads to a value of the index ${quoted} that is taken.`
        ),
        statement
      })
    case 'REFUSED_BY_TRIGGER':
      return new DomainError(code, `A trigger of the database refused the change: ${quoted}.`, { statement })
    default:
      return new DomainError(code, `The change violates the check ${quoted}.`, {
        details: detailsFor(names, 'check', (name) => `${name} must satisfy the check ${quoted}.`),
        hint: 'Send values that satisfy the check.',
        statement
      })
  }
}

/** Creates the function that explains a failed write to its caller. */
export const createViolations = (db: Database) => {
  /** Returns the rules of the table itself that a message of SQLite may name. */
  const rulesOf = async (table: string, code: string): Promise<readonly DeclaredRule[]> => {
    const rows = await db.read(selectDeclarations(table))
    return rows.flatMap(({ type, name, sql }) => {
      if (code === 'UNIQUE_VIOLATION') return type === 'index' ? [ruleOfIndex(String(name), String(sql))] : []
      if (code === 'REFUSED_BY_TRIGGER') return type === 'trigger' ? raisesIn(String(sql)) : []
      return type === 'table' ? checksIn(String(sql)) : []
    })
  }

  /**
   * SQLite does not report the table of the rule: a trigger or a foreign key action may have written to another one. A
   * token therefore sees a rule only if its own table declares it and hides no column.
   */
  const nameRule = async ({ kind }: Caller, error: DomainError, reported: string, access: Access) => {
    const { table, columns } = access
    const rules = (await rulesOf(table.name, error.code)).filter((rule) => rule.reported.includes(reported))
    const showsAll = columns.size === table.structure.columns.length
    if (kind === 'token' && (rules.length === 0 || !showsAll)) return nameColumns(error, access)
    const label = rules.length === 1 ? String(rules[0]?.label) : reported
    const isNamed = (name: string) => rules.some(({ names }) => names.has(foldName(name)))
    return describeRule(error, label, [...columns.keys()].filter(isNamed))
  }

  const nameReferences = async (error: DomainError, { access, sent = [] }: FailedWrite) => {
    const broken = await brokenReferences(db, access.table, sent)
    // A preset may be of a field that the caller does not see.
    const names = broken.filter((name) => access.accepted.has(name))
    if (names.length === 0) return error
    const details = detailsFor(names, 'reference', (name) => `${name} refers to a record that does not exist.`)
    const message = `The reference in ${names.map((name) => `'${name}'`).join(', ')} is to a record that does not exist.`
    const hint = 'Create the referenced record first, or send the key of another one.'
    return new DomainError(error.code, message, { details, hint, statement: error.statement })
  }

  /** Returns the error of the engine with the names that the caller may see. */
  return async (caller: Caller, error: Error, write: FailedWrite): Promise<Error> => {
    if (!(error instanceof DomainError)) return error
    if (error.code === 'FOREIGN_KEY_VIOLATION') return nameReferences(error, write)
    if (error.reported) return nameRule(caller, error, error.reported, write.access)
    return error.details ? nameColumns(error, write.access) : error
  }
}
