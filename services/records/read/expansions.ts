import { MAX_EXPANSION_DEPTH, MAX_EXPANSIONS } from '../../../schemas/query.ts'
import { DomainError, excerpt, invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import type { Expansion } from '../../sql/record-shape.ts'
import { expandableKey } from '../../tables/foreign-keys.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'

/**
 * Maximum characters of the SQL for the added records: some 150 fields of tables that are not STRICT, or 500 of STRICT
 * tables. SQLite compiles them in 50 ms, and allocates up to 2 MiB.
 */
const MAX_LENGTH = 128 * 1024

/** The member of a record that has the records to which it refers. */
export const EXPAND_MEMBER = 'expand'

/** An expansion, and those of the records that it adds. */
interface Node {
  readonly column: Column
  readonly target: Access
  readonly targetField: string
  readonly children: Map<string, Node>
}

const fail = (index: number, code: string, message: string, hint?: string) =>
  invalid([{ path: `/expand/${index}`, code, message }], hint)

const TOO_MANY_HINT = 'Expand fewer references, and read the other records with requests of their own.'
const HINT = 'The schema of the table lists the fields with `references`.'

/** Returns the field at the start of a path, which is followed by a dot or the end. Its name may have dots. */
const firstField = ({ columns }: Access, path: string) =>
  [...columns.values()].find(({ name }) => path === name || path.startsWith(`${name}.`))

const notReadable = (name: string) =>
  new DomainError('ACTION_NOT_ALLOWED', `The token needs the action 'read' on the table to which '${name}' refers.`)

/** @throws ACTION_NOT_ALLOWED */
const asTarget = ({ table }: Access, column: Column, readable: ReadableTables) => {
  const key = expandableKey(table, column)
  if (key && !readable.mayRead(key.table)) throw notReadable(column.name)
  const target = key && readable.accessTo(key.table)
  const field = target && [...target.columns.values()].find(({ name }) => name === key.targetFields[0])
  return target && field?.isUnique ? { target, targetField: field.name } : undefined
}

const assertFree = ({ columns, table }: Access, index: number) => {
  if (!columns.has(EXPAND_MEMBER)) return
  throw fail(
    index,
    'conflict',
    `The table '${table.name}' has a field named '${EXPAND_MEMBER}', so it has no expansions.`
  )
}

/** Returns the length of the SQL for a whole record. It is composed already, unlike that of the request. */
const lengthOf = ({ all: { json } }: Access) => json.text.length + json.width.length

/** Reads the paths of one request as a tree. */
const createTree = (readable: ReadableTables) => {
  let size = 0
  let length = 0

  const nodeOf = (access: Access, nodes: Map<string, Node>, column: Column, index: number): Node => {
    const known = nodes.get(column.name)
    if (known) return known
    const found = asTarget(access, column, readable)
    if (!found) throw fail(index, 'reference', `'${column.name}' refers to no record that you can read.`, HINT)
    size += 1
    length += lengthOf(found.target)
    if (size > MAX_EXPANSIONS) throw fail(index, 'length', `At most ${MAX_EXPANSIONS} references can be expanded.`)
    if (length > MAX_LENGTH) throw fail(index, 'length', 'The added records have too many fields.', TOO_MANY_HINT)
    const node = { column, ...found, children: new Map<string, Node>() }
    nodes.set(column.name, node)
    return node
  }

  const add = (access: Access, nodes: Map<string, Node>, path: string, index: number, depth: number) => {
    if (depth > MAX_EXPANSION_DEPTH)
      throw fail(index, 'depth', `References can be expanded to a depth of ${MAX_EXPANSION_DEPTH}.`)
    const column = firstField(access, path)
    if (!column)
      throw fail(index, 'unknown', `'${excerpt(path)}' begins with no field of the table '${access.table.name}'.`, HINT)
    assertFree(access, index)
    const node = nodeOf(access, nodes, column, index)
    const rest = path.slice(column.name.length + 1)
    if (rest !== '') add(node.target, node.children, rest, index, depth + 1)
  }

  return add
}

const toExpansion = ({ column, target, targetField, children }: Node): Expansion => ({
  column: column.name,
  table: target.table.name,
  targetField,
  rowRule: target.rowRule,
  shape: target.all.shape,
  expansions: [...children.values()].map(toExpansion)
})

/** Returns the references that a request expands. @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED */
export const readExpansions = (
  access: Access,
  paths: readonly string[],
  readable: ReadableTables
): readonly Expansion[] => {
  const nodes = new Map<string, Node>()
  const add = createTree(readable)
  for (const [index, path] of paths.entries()) add(access, nodes, path, index, 1)
  return [...nodes.values()].map(toExpansion)
}
