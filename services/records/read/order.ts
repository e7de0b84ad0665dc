import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { OrderItem } from '../../sql/selections.ts'
import type { Access } from '../access/access.ts'
import type { Joins } from './joins.ts'

const MAX_ITEMS = 8

const FORM = 'Separate fields with commas. A leading - means descending: -price,name.'

const invalidOrder = (message: string, hint = FORM) => invalid([{ path: '/order', code: 'order', message }], hint)

/** A set or a map of the names that an order can have. */
type Names = Pick<ReadonlySet<string> | ReadonlyMap<string, unknown>, 'has' | 'keys'>

const isDescending = (direction: string) => direction.toLowerCase() === 'desc'

/**
 * Parses `field desc`, `field:desc` and `field.desc`. In several steps: one regular expression for the whole item takes
 * quadratic time on a long run of spaces.
 */
const splitDirection = (item: string) => {
  const direction = /(?:asc|desc)$/i.exec(item)?.[0] ?? ''
  const rest = item.slice(0, item.length - direction.length)
  const name = rest.trimEnd()
  if (/[:.]$/.test(name)) return { name: name.slice(0, -1).trimEnd(), direction }
  return { name: name === rest ? item : name, direction }
}

/** Parses an item in which every space belongs to the name. */
const parseExactItem = (item: string, names: Names): OrderItem | undefined => {
  if (names.has(item)) return { name: item, descending: false }
  const rest = item.slice(1)
  return /^[+-]/.test(item) && names.has(rest) ? { name: rest, descending: item.startsWith('-') } : undefined
}

/** Parses `field`, `-field`, `+field`, or a field with a direction after it. A field with exactly this name wins. */
export const parseItem = (untrimmed: string, names: Names): OrderItem | undefined => {
  const item = untrimmed.trim()
  const exact =
    parseExactItem(untrimmed, names) ??
    parseExactItem(untrimmed.trimStart(), names) ??
    parseExactItem(item.replace(/^([+-])\s+/, '$1'), names)
  if (exact) return exact
  const { name, direction } = splitDirection(item)
  return direction !== '' && names.has(name) ? { name, descending: isDescending(direction) } : undefined
}

/** `what`: what the item should be, such as "a field of this table". */
export const notAField = (untrimmed: string, names: Names, what: string) => {
  const item = untrimmed.trim()
  const { name } = splitDirection(item.replace(/^[+-]/, ''))
  const hint = [suggestName(name, names.keys()) ?? [], FORM].flat().join(' ')
  return invalidOrder(`'order' names '${excerpt(item)}', which is not ${what}.`, hint)
}

/** The largest number of commas in a name. */
const maxCommas = (names: Names) => {
  let max = 0
  for (const name of names.keys()) if (name.includes(',')) max = Math.max(max, name.split(',').length - 1)
  return max
}

/**
 * Returns the items of an `order`. Empty counts as absent. An item can be a name with commas.
 * @throws VALIDATION_FAILED
 */
export const splitOrder = (order: string, names: Names): readonly string[] => {
  if (order.trim() === '') return []
  const parts = order.split(',')
  const longest = parts.length === 1 ? 1 : maxCommas(names) + 1
  const items: string[] = []
  for (let start = 0; start < parts.length; ) {
    if (items.length === MAX_ITEMS) throw invalidOrder(`'order' takes ${MAX_ITEMS} fields at most.`)
    let end = Math.min(start + longest, parts.length)
    while (end > start + 1 && !parseItem(parts.slice(start, end).join(), names)) end -= 1
    items.push(parts.slice(start, end).join())
    start = end
  }
  return items
}

/**
 * Parses an item with a field of another record, such as `-customer.city`. A direction at its end is never the name of a
 * field, so that it means the same for every caller.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
const parseJoined = (untrimmed: string, { hasField, joinField }: Joins): OrderItem | undefined => {
  const item = untrimmed.trim()
  const path = item.replace(/^[+-]\s*/, '')
  const { name, direction } = splitDirection(path)
  const hasDirection = direction !== '' && hasField(name, '/order')
  const joined = joinField(hasDirection ? name : path, '/order')
  if (!joined) return undefined
  const descending = hasDirection ? isDescending(direction) : item.startsWith('-')
  return { name: joined.column.name, alias: joined.alias, descending }
}

/**
 * Returns the fields and directions of the `order` parameter. Empty counts as absent.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
export const parseOrder = ({ columns, table }: Access, order = '', joins: Joins): readonly OrderItem[] => {
  const parsed: OrderItem[] = []

  const add = (item: string) => {
    const known = parseItem(item, columns) ?? parseJoined(item, joins)
    if (known) return parsed.push(known)
    if (!/^(?:asc|desc)$/i.test(item.trim())) throw notAField(item, columns, 'a field of this table')
    // A direction without a field belongs to the field before it, or to the key if there is none.
    const before = parsed.pop()
    const items = before ? [before] : table.structure.key.map((name) => ({ name }))
    return parsed.push(...items.map((one) => ({ ...one, descending: isDescending(item.trim()) })))
  }

  for (const item of splitOrder(order, columns)) add(item)
  return parsed
}
