import { suggestName } from '../../schemas/similar-names.ts'
import { excerpt, invalid } from '../model/errors.ts'
import type { OrderItem } from '../sql/lists.ts'
import type { View } from './view.ts'

const MAX_ITEMS = 8

const FORM = 'Separate fields with commas. A leading - means descending: -price,name.'

const invalidOrder = (message: string, hint = FORM) => invalid([{ path: '/order', code: 'order', message }], hint)

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

/** Parses `field`, `-field`, `+field`, or a field with a direction after it. A field with exactly this name wins. */
export const parseItem = (item: string, isField: (name: string) => boolean): OrderItem | undefined => {
  if (isField(item)) return { name: item, descending: false }
  const rest = item.slice(1).trim()
  if (/^[+-]/.test(item) && isField(rest)) return { name: rest, descending: item.startsWith('-') }
  const { name, direction } = splitDirection(item)
  return direction !== '' && isField(name) ? { name, descending: isDescending(direction) } : undefined
}

/** `what`: what the item should be, such as "a field of this table". */
export const notAField = (item: string, names: Iterable<string>, what: string) => {
  const { name } = splitDirection(item.replace(/^[+-]/, ''))
  const hint = [suggestName(name, names) ?? [], FORM].flat().join(' ')
  return invalidOrder(`'order' names '${excerpt(item)}', which is not ${what}.`, hint)
}

/** Returns the items of an `order`. Empty counts as absent. @throws VALIDATION_FAILED */
export const splitOrder = (order: string): readonly string[] => {
  if (order.trim() === '') return []
  const items = order.split(',').map((item) => item.trim())
  if (items.length > MAX_ITEMS) throw invalidOrder(`'order' takes ${MAX_ITEMS} fields at most.`)
  return items
}

/** Returns the fields and directions of the `order` parameter. Empty counts as absent. @throws VALIDATION_FAILED */
export const parseOrder = ({ columns, table }: View, order = ''): readonly OrderItem[] => {
  const parsed: OrderItem[] = []

  const add = (item: string) => {
    const known = parseItem(item, (name) => columns.has(name))
    if (known) return parsed.push(known)
    if (!/^(?:asc|desc)$/i.test(item)) throw notAField(item, columns.keys(), 'a field of this table')
    // A direction without a field belongs to the field before it, or to the key if there is none.
    const before = parsed.pop()
    const names = before ? [before.name] : table.structure.key
    return parsed.push(...names.map((name) => ({ name, descending: isDescending(item) })))
  }

  for (const item of splitOrder(order)) add(item)
  return parsed
}
