/**
 * Queues items per caller and serves the callers in rotation, so that a caller with many items does not delay the
 * others. When it is full, the caller with the most items loses its last one to a caller with fewer.
 */
export const createFairQueue = <T>(capacity: number) => {
  const itemsByCaller = new Map<string, readonly T[]>()
  let length = 0

  /** Removes and returns an item of the first caller that may have one. */
  const take = (mayHave: (caller: string) => boolean = () => true): T | undefined => {
    const found = [...itemsByCaller].find(([name]) => mayHave(name))
    if (!found) return undefined
    const [caller, [item, ...rest]] = found
    itemsByCaller.delete(caller)
    if (rest.length > 0) itemsByCaller.set(caller, rest)
    length -= 1
    return item
  }

  /** Removes and returns the last item of the caller with the most, if it has more than `caller` would then have. */
  const makeRoomFor = (caller: string): T | undefined => {
    const [largest, items] = [...itemsByCaller].reduce((max, entry) => (entry[1].length > max[1].length ? entry : max))
    if (items.length <= (itemsByCaller.get(caller) ?? []).length + 1) return undefined
    itemsByCaller.set(largest, items.slice(0, -1))
    length -= 1
    return items.at(-1)
  }

  /** Returns the item that has no room: undefined, the new item, or an item of another caller that it replaced. */
  const add = (caller: string, item: T): T | undefined => {
    const displaced = length >= capacity ? makeRoomFor(caller) : undefined
    if (length >= capacity) return item
    itemsByCaller.set(caller, [...(itemsByCaller.get(caller) ?? []), item])
    length += 1
    return displaced
  }

  /** Removes the item of the caller, if it is in the queue. */
  const remove = (caller: string, item: T) => {
    const items = itemsByCaller.get(caller) ?? []
    const rest = items.filter((other) => other !== item)
    if (rest.length > 0) itemsByCaller.set(caller, rest)
    else itemsByCaller.delete(caller)
    length -= items.length - rest.length
  }

  return { add, take, remove, length: () => length }
}
