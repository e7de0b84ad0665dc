/**
 * What waits, served in turn by whom it waits for. Where there is no more room those with less go before those with
 * more, so that one who asks for much neither holds up nor shuts out another who asks for little.
 */
export const createFairQueue = <T>(capacity: number) => {
  const waiting = new Map<string, readonly T[]>()
  let length = 0

  const take = (): T | undefined => {
    const first = waiting.entries().next()
    if (first.done) return undefined
    const [key, [item, ...rest]] = first.value
    waiting.delete(key)
    if (rest.length > 0) waiting.set(key, rest)
    length -= 1
    return item
  }

  /** Takes out the last of whoever has the most, where that is more than the newcomer then will have. */
  const makeRoomFor = (key: string): T | undefined => {
    const [longest, items] = [...waiting].reduce((most, one) => (one[1].length > most[1].length ? one : most))
    if (items.length <= (waiting.get(key) ?? []).length + 1) return undefined
    waiting.set(longest, items.slice(0, -1))
    length -= 1
    return items.at(-1)
  }

  /** Gives what has no place: undefined, the item itself, or one that made room for it. */
  const add = (key: string, item: T): T | undefined => {
    const displaced = length >= capacity ? makeRoomFor(key) : undefined
    if (length >= capacity) return item
    waiting.set(key, [...(waiting.get(key) ?? []), item])
    length += 1
    return displaced
  }

  return { add, take }
}
