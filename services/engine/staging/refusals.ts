import { foldName } from '../../model/names.ts'
import { checksIn, type DeclaredRule } from '../../sql/declared-rules.ts'
import { STAGED_TABLE } from '../../sql/staged.ts'
import { toPlainError } from '../shared/plain-error.ts'
import type { ImportError } from './import-errors.ts'
import type { StagingRequest } from './protocol.ts'

/** SQLite names columns as `table.column`. */
const columnsIn = (list: string) =>
  list.split(', ').flatMap((item) => (item.startsWith(`${STAGED_TABLE}.`) ? [item.slice(STAGED_TABLE.length + 1)] : []))

/** Why SQLite refused a record. */
export type Refusal = Omit<ImportError, 'line'>

const explanations: readonly (readonly [RegExp, (message: string) => Refusal])[] = [
  [
    /^UNIQUE constraint failed: /,
    (list) => {
      const [first, ...others] = columnsIn(list)
      const code = 'unique'
      // SQLite names an index on expressions as `index 'name'`.
      if (first === undefined)
        return {
          column: null,
          code,
          message: `The record has the values of an earlier record of the file in the unique ${list}.`
        }
      const together =
        others.length === 0 ? '' : `, together with the other unique fields (${[first, ...others].join(', ')}),`
      return { column: first, code, message: `is${together} the value of an earlier record of the file` }
    }
  ],
  [
    /^cannot store (?=.* column )/,
    (text) => ({
      column: columnsIn(text.split(' ').at(-1) as string)[0] as string,
      code: 'type',
      message: `cannot be stored: ${text.split(' column ')[0]}`
    })
  ]
]

const CHECK = /^CHECK constraint failed: /

/** Creates the function that names the first field of a check that a record violates. */
const createCheckRefusals = ({ declarations, fields }: Pick<StagingRequest, 'declarations' | 'fields'>) => {
  let checks: readonly DeclaredRule[] | undefined

  return (reported: string): Refusal => {
    checks ??= checksIn(String(declarations[0]))
    const rule = checks.find((check) => check.reported.includes(reported))
    const field = rule && fields.find(({ column }) => rule.names.has(foldName(column.name)))
    return field
      ? { column: field.column.name, code: 'check', message: `must satisfy the check '${rule.label}'` }
      : { column: null, code: 'check', message: `The record violates the check '${reported}'.` }
  }
}

/** Creates the function that returns why SQLite refused a record. It throws any other error of SQLite. */
export const createRefusals = (request: Pick<StagingRequest, 'declarations' | 'fields'>) => {
  const refusedByCheck = createCheckRefusals(request)
  const explained = [[CHECK, refusedByCheck] as const, ...explanations]

  return (error: unknown): Refusal => {
    const { code, message } = toPlainError(error)
    if (!/^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|ERROR)/.test(code)) throw error
    for (const [pattern, toReason] of explained)
      if (pattern.test(message)) return toReason(message.replace(pattern, ''))
    return { column: null, code: 'constraint', message: `SQLite refuses the record: ${message}.` }
  }
}
