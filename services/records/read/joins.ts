import { MAX_REFERENCE_DEPTH, MAX_REFERENCES } from '../../../schemas/query.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { type Join, joinAlias } from '../../sql/joins.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { findTarget, firstField, type Target } from './targets.ts'

/** A field of a record to which a row refers. */
export interface JoinedColumn {
  /** The alias of its table in the statement. */
  readonly alias: string
  readonly column: Column
}

/** A field that refers to a record. */
interface Reference {
  readonly column: Column
  readonly target: Target
}

/** A name such as `customer.country.name`, as far as it leads to a record. */
interface FieldPath {
  readonly references: readonly Reference[]
  /** The table of the last record. */
  readonly last: Access
  /** The rest of the name: that of a field of the last record, if it has this field. */
  readonly rest: string
}

const fail = (pointer: string, code: string, message: string, hint?: string) =>
  invalid([{ path: pointer, code, message }], hint)

const tooMany = (pointer: string) =>
  fail(pointer, 'length', `The filter and the order may use at most ${MAX_REFERENCES} references.`)

const tooDeep = (pointer: string) =>
  fail(pointer, 'depth', `References can be followed to a depth of ${MAX_REFERENCE_DEPTH}.`)

const noField = (pointer: string, { last, rest }: FieldPath) => {
  const message = `'${excerpt(rest)}' is not a field of the table '${last.table.name}'.`
  return fail(pointer, 'unknown', message, suggestName(rest, last.columns.keys()))
}

/** Collects the records that the filter and the order of one request need for names such as `customer.city`. */
export const createJoins = (access: Access, readable: ReadableTables) => {
  const aliases = new Map<string, string>()
  const joins: Join[] = []

  /** @throws VALIDATION_FAILED with the pointer, ACTION_NOT_ALLOWED */
  const follow = (name: string, pointer: string): FieldPath => {
    const references: Reference[] = []
    let last = access
    let rest = name
    while (!last.columns.has(rest)) {
      const column = firstField(last, rest, ['.'])
      const target = column && findTarget(last, column, readable)
      if (!target) break
      if (references.length === MAX_REFERENCE_DEPTH) throw tooDeep(pointer)
      references.push({ column, target })
      last = target.access
      rest = rest.slice(column.name.length + 1)
    }
    return { references, last, rest }
  }

  /** Returns the alias of the record to which a row of `parent` refers. @throws VALIDATION_FAILED with the pointer */
  const join = (parent: string, { column, target }: Reference, pointer: string): string => {
    const path = JSON.stringify([parent, column.name])
    const known = aliases.get(path)
    if (known !== undefined) return known
    if (joins.length === MAX_REFERENCES) throw tooMany(pointer)
    const { table, rowRule } = target.access
    const alias = joinAlias(joins.length)
    joins.push({ alias, table: table.name, field: target.field, parent, column: column.name, rowRule })
    aliases.set(path, alias)
    return alias
  }

  /** Whether a name leads to a field of another record. Joins nothing. @throws as `joinField` */
  const hasField = (name: string, pointer: string): boolean => {
    const { references, last, rest } = follow(name, pointer)
    return references.length > 0 && last.columns.has(rest)
  }

  /**
   * Returns the field of a name such as `customer.city`, and joins its record. undefined: the name does not begin with a
   * field that refers to a record which the caller can read.
   * @throws VALIDATION_FAILED with the pointer, ACTION_NOT_ALLOWED
   */
  const joinField = (name: string, pointer: string): JoinedColumn | undefined => {
    const path = follow(name, pointer)
    if (path.references.length === 0) return undefined
    const column = path.last.columns.get(path.rest)
    if (!column) throw noField(pointer, path)
    const alias = path.references.reduce((parent, reference) => join(parent, reference, pointer), access.table.name)
    return { alias, column }
  }

  return { hasField, joinField, joins: joins as readonly Join[] }
}

export type Joins = ReturnType<typeof createJoins>
