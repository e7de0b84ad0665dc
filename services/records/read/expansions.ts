import { MAX_REFERENCE_DEPTH, MAX_REFERENCES } from '../../../schemas/query.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import { splitNames } from '../../model/names.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { Column } from '../../model/table.ts'
import { aliasOf } from '../../sql/expansions.ts'
import type { Expansion } from '../../sql/record-shape.ts'
import type { Access, Projection } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { columnOf, withKey } from './columns.ts'
import { referencesHint, suggestExpansion } from './reference-names.ts'
import { findTarget, firstField, type Target } from './targets.ts'

/**
 * Maximum characters of the SQL for the added records: some 150 fields of tables that are not STRICT, or 500 of STRICT
 * tables. SQLite compiles them in 50 ms, and allocates up to 2 MiB.
 */
const MAX_LENGTH = 128 * 1024

/** The member of a record that has the records to which it refers. */
export const EXPAND_MEMBER = 'expand'

/** A record to add, and those that are added to it. */
interface Node {
  readonly column: Column
  readonly target: Target
  /** The fields that paths name in parentheses. Empty: all fields. */
  readonly fields: Set<string>
  /** A path names the record without fields, so it has all of them. */
  isWhole: boolean
  readonly children: Map<string, Node>
}

const fail = (index: number, code: string, message: string, hint?: string) =>
  invalid([{ path: pathOf(index), code, message }], hint)

const pathOf = (index: number) => `/expand/${index}`

const tooLong = () =>
  invalid(
    [{ path: '/expand', code: 'length', message: 'The added records have too many fields.' }],
    'Name the fields that you need, as in `customer(name,city)`, or expand fewer references.'
  )

const assertFree = ({ columns, table }: Access, index: number) => {
  if (!columns.has(EXPAND_MEMBER)) return
  throw fail(
    index,
    'conflict',
    `The table '${table.name}' has a field named '${EXPAND_MEMBER}', so it has no expansions.`
  )
}

/** Reads the paths of one request as a tree. */
const createTree = (readable: ReadableTables) => {
  let size = 0

  const nodeOf = (access: Access, nodes: Map<string, Node>, column: Column, index: number): Node => {
    const known = nodes.get(column.name)
    if (known) return known
    const target = findTarget(access, column, readable)
    if (!target)
      throw fail(
        index,
        'reference',
        `'${column.name}' refers to no record that you can read.`,
        referencesHint(access, readable)
      )
    size += 1
    if (size > MAX_REFERENCES) throw fail(index, 'length', `At most ${MAX_REFERENCES} references can be expanded.`)
    const node = { column, target, fields: new Set<string>(), isWhole: false, children: new Map<string, Node>() }
    nodes.set(column.name, node)
    return node
  }

  /** Adds the fields of `(name,city)`. */
  const addFields = (node: Node, list: string, index: number) => {
    if (!list.endsWith(')')) throw fail(index, 'format', "A list of fields ends with ')', as in `customer(name,city)`.")
    for (const name of splitNames(list.slice(1, -1)))
      node.fields.add(columnOf(node.target.access, pathOf(index), name).name)
  }

  const add = (access: Access, nodes: Map<string, Node>, path: string, index: number, depth: number) => {
    if (depth > MAX_REFERENCE_DEPTH)
      throw fail(index, 'depth', `References can be expanded to a depth of ${MAX_REFERENCE_DEPTH}.`)
    const column = firstField(access, path, ['.', '('])
    if (!column) {
      const message = `'${excerpt(path)}' begins with no field of the table '${access.table.name}'.`
      const similar = suggestExpansion(access, path, readable)
      const hint = [similar ? `Did you mean '${excerpt(similar)}'?` : [], referencesHint(access, readable)].flat()
      throw fail(index, 'unknown', message, hint.join(' '))
    }
    assertFree(access, index)
    const node = nodeOf(access, nodes, column, index)
    const rest = path.slice(column.name.length)
    if (rest.startsWith('(')) return addFields(node, rest, index)
    if (rest !== '') return add(node.target.access, node.children, rest.slice(1), index, depth + 1)
    node.isWhole = true
  }

  return add
}

const projectionOfNode = ({ target: { access }, fields, isWhole }: Node): Projection =>
  isWhole || fields.size === 0 ? access.all : access.project(withKey(access, fields), [])

/** Returns the length of the SQL for the records of these nodes. */
const lengthOf = (nodes: ReadonlyMap<string, Node>): number =>
  [...nodes.values()].reduce((sum, node) => {
    const { json } = projectionOfNode(node)
    return sum + json.text.length + json.width.length + lengthOf(node.children)
  }, 0)

/** The records to add, and the values that their rules compare, in the order of the SQL. */
interface BoundExpansions {
  readonly expansions: readonly Expansion[]
  readonly params: readonly SqlValue[]
}

export const NO_EXPANSIONS: BoundExpansions = { expansions: [], params: [] }

const bindNode = (node: Node, alias: string): BoundExpansions => {
  const { access, field } = node.target
  const { expansions, params } = bindNodes(node.children, alias)
  const rule = access.rowRule?.({ name: alias })
  const expansion = {
    column: node.column.name,
    table: access.table.name,
    alias,
    targetField: field,
    rule: rule?.sql ?? null,
    shape: projectionOfNode(node).shape,
    expansions
  }
  return { expansions: [expansion], params: [...params, ...(rule?.params ?? [])] }
}

const bindNodes = (nodes: ReadonlyMap<string, Node>, parent: string): BoundExpansions => {
  const bound = [...nodes.values()].map((node, index) => bindNode(node, aliasOf(parent, index)))
  return {
    expansions: bound.flatMap(({ expansions }) => expansions),
    params: bound.flatMap(({ params }) => params)
  }
}

/** Returns the references that a request expands. @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED */
export const readExpansions = (access: Access, paths: readonly string[], readable: ReadableTables): BoundExpansions => {
  const nodes = new Map<string, Node>()
  const add = createTree(readable)
  for (const [index, path] of paths.entries()) add(access, nodes, path, index, 1)
  if (lengthOf(nodes) > MAX_LENGTH) throw tooLong()
  return bindNodes(nodes, access.table.name)
}
