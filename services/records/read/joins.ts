import { MAX_EXPANSION_DEPTH, MAX_EXPANSIONS } from '../../../schemas/query.ts'
import { invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { type Join, joinAlias } from '../../sql/joins.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { findTarget, firstField, REFERENCES_HINT } from './targets.ts'

/** A field of a record to which a row refers. */
export interface JoinedColumn {
  /** The alias of its table in the statement. */
  readonly alias: string
  readonly column: Column
}

/** A table in the statement: the selected one, or one that is joined. */
interface Place {
  readonly access: Access
  readonly alias: string
}

const fail = (pointer: string, code: string, message: string) =>
  invalid([{ path: pointer, code, message }], REFERENCES_HINT)

const tooMany = (pointer: string) =>
  fail(pointer, 'length', `The filter and the order may use at most ${MAX_EXPANSIONS} references.`)

const tooDeep = (pointer: string) =>
  fail(pointer, 'depth', `References can be followed to a depth of ${MAX_EXPANSION_DEPTH}.`)

/** Collects the tables that the filter and the order of one request need for names such as `customer.city`. */
export const createJoins = (access: Access, readable: ReadableTables) => {
  const places = new Map<string, Place>()
  const joins: Join[] = []

  /** Joins the record to which a column refers. @throws VALIDATION_FAILED with the pointer, ACTION_NOT_ALLOWED */
  const follow = (from: Place, column: Column, depth: number, pointer: string): Place | undefined => {
    const path = JSON.stringify([from.alias, column.name])
    const known = places.get(path)
    if (known) return known
    const target = findTarget(from.access, column, readable)
    if (!target) return undefined
    if (depth === MAX_EXPANSION_DEPTH) throw tooDeep(pointer)
    if (joins.length === MAX_EXPANSIONS) throw tooMany(pointer)
    const { table, rowRule } = target.access
    const alias = joinAlias(joins.length)
    joins.push({ alias, table: table.name, field: target.field, parent: from.alias, column: column.name, rowRule })
    const place = { access: target.access, alias }
    places.set(path, place)
    return place
  }

  /**
   * Returns the field of a name such as `customer.city`, and joins its table. undefined: the name is that of a field of the
   * selected table, a part of it refers to no record that the caller can read, or the record has no such field.
   * @throws VALIDATION_FAILED with the pointer, ACTION_NOT_ALLOWED
   */
  const find = (name: string, pointer: string): JoinedColumn | undefined => {
    let place: Place | undefined = { access, alias: access.table.name }
    let rest = name
    for (let depth = 0; place; depth += 1) {
      const exact = place.access.columns.get(rest)
      if (exact) return depth === 0 ? undefined : { alias: place.alias, column: exact }
      const column: Column | undefined = firstField(place.access, rest, ['.'])
      place = column && follow(place, column, depth, pointer)
      rest = rest.slice(Number(column?.name.length) + 1)
    }
    return undefined
  }

  return { find, joins: joins as readonly Join[] }
}

export type Joins = ReturnType<typeof createJoins>
