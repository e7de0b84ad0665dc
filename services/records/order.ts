import { excerpt, invalid } from '../model/errors.ts'
import type { OrderItem } from '../sql/lists.ts'
import type { View } from './view.ts'

const MOST_ITEMS = 8

const refuse = (message: string) =>
  invalid(
    [{ path: '/order', code: 'order', message }],
    'Write fields with commas between them, a leading - for descending: -price,name.'
  )

const isDescending = (direction: string) => direction.toLowerCase() === 'desc'

/**
 * `field desc`, `field:desc`, `field.desc`. Taken apart step by step: one expression for all of it would try every way
 * to share out a long run of spaces.
 */
const splitDirection = (item: string) => {
  const direction = /(?:asc|desc)$/i.exec(item)?.[0] ?? ''
  const rest = item.slice(0, item.length - direction.length)
  const name = rest.trimEnd()
  if (/[:.]$/.test(name)) return { name: name.slice(0, -1).trimEnd(), direction }
  return { name: name === rest ? item : name, direction }
}

/** `-field`, `+field`, or with a direction behind it; a field of just that name comes first. */
const parseItem = (item: string, isField: (name: string) => boolean): OrderItem | undefined => {
  if (isField(item)) return { name: item, descending: false }
  const rest = item.slice(1).trim()
  if (/^[+-]/.test(item) && isField(rest)) return { name: rest, descending: item.startsWith('-') }
  const { name, direction } = splitDirection(item)
  return direction !== '' && isField(name) ? { name, descending: isDescending(direction) } : undefined
}

/** The `order` parameter as fields and directions; empty counts as absent. @throws VALIDATION_FAILED */
export const parseOrder = ({ columns, table }: View, order = ''): readonly OrderItem[] => {
  const items = order.split(',').map((item) => item.trim())
  if (items.length > MOST_ITEMS) throw refuse(`'order' takes ${MOST_ITEMS} fields at most.`)
  const parsed: OrderItem[] = []

  const add = (item: string) => {
    const known = parseItem(item, (name) => columns.has(name))
    if (known) return parsed.push(known)
    if (!/^(?:asc|desc)$/i.test(item))
      throw refuse(`'order' names '${excerpt(item)}', which is no field of this table.`)
    // A bare direction belongs to the item before it, or to the key where it stands alone.
    const before = parsed.pop()
    const names = before ? [before.name] : table.structure.key
    return parsed.push(...names.map((name) => ({ name, descending: isDescending(item) })))
  }

  if (order.trim() !== '') for (const item of items) add(item)
  return parsed
}
