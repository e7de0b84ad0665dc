import { MAX_FILTER_DEPTH, operators } from '../../schemas/query.ts'
import { MAX_VIA_DEPTH } from '../../schemas/role.ts'
import { excerpt, invalid, pointer } from '../model/errors.ts'
import { isJsonObject } from '../model/json-object.ts'

/** How deep a part of a rule is. */
interface Depth {
  readonly lists: number
  readonly steps: number
}

const LISTS = ['all', 'any', 'none']

const refuse = (path: string, code: string, rule: string) =>
  invalid([{ path, code, message: `'${excerpt(path.slice(1))}' ${rule}.` }])

const entriesOf = (path: string, value: unknown) => {
  if (!isJsonObject(value)) throw refuse(path, 'type', 'must be an object')
  return Object.entries(value).map(([name, item]) => ({ name, item, path: path + pointer(name) }))
}

const checkWhere = (path: string, where: unknown) => {
  for (const field of entriesOf(path, where)) {
    for (const { name, path } of entriesOf(field.path, field.item))
      if (!Object.hasOwn(operators, name)) throw refuse(path, 'unknown', 'is not an operator of a condition')
  }
}

/**
 * Checks the form of a rule, which holds for every table. The fields and values are checked when the rule meets a table.
 * @throws VALIDATION_FAILED
 */
export const checkRule = (path: string, rule: unknown, { lists, steps }: Depth = { lists: 0, steps: 0 }) => {
  if (lists > MAX_FILTER_DEPTH)
    throw refuse(path, 'depth', `is nested deeper than ${MAX_FILTER_DEPTH} levels of 'all', 'any' and 'none'`)
  if (steps > MAX_VIA_DEPTH) throw refuse(path, 'depth', `follows more than ${MAX_VIA_DEPTH} foreign keys`)
  for (const { name, item, path: part } of entriesOf(path, rule)) {
    if (name === 'where') checkWhere(part, item)
    else if (name === 'via')
      for (const parent of entriesOf(part, item)) checkRule(parent.path, parent.item, { lists: 0, steps: steps + 1 })
    else if (!LISTS.includes(name)) throw refuse(part, 'unknown', 'is not a part of a rule')
    else if (!Array.isArray(item)) throw refuse(part, 'type', 'must be an array')
    else
      for (const [index, member] of item.entries()) checkRule(`${part}/${index}`, member, { lists: lists + 1, steps })
  }
}
