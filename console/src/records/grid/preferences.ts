import { useCallback, useState } from 'react'

/** How a user wants to see a table. Fields that are not named are shown after the others, in the order of the table. */
export interface Preferences {
  readonly order: readonly string[]
  readonly hidden: readonly string[]
  /** null: nothing chosen; a key of one field is pinned. */
  readonly pinned: readonly string[] | null
  readonly widths: Readonly<Record<string, number>>
}

const NONE: Preferences = { order: [], hidden: [], pinned: null, widths: {} }
/** On a narrower screen, a pinned column leaves too little space for others. */
const NARROW = 600
const COMPACT_KEY = 'rowhouse.compact'

const keyOf = (table: string) => `rowhouse.columns.${table}`

const stored = (table: string): Preferences => {
  try {
    return { ...NONE, ...JSON.parse(localStorage.getItem(keyOf(table)) ?? '{}') }
  } catch {
    return NONE
  }
}

/** The choice of columns of a table, which this browser keeps. */
export const usePreferences = (table: string) => {
  const [preferences, setPreferences] = useState(() => stored(table))
  const change = useCallback(
    (changes: Partial<Preferences> | null) =>
      setPreferences((present) => {
        const next = changes ? { ...present, ...changes } : NONE
        localStorage.setItem(keyOf(table), JSON.stringify(next))
        return next
      }),
    [table]
  )
  return [preferences, change] as const
}

/** Whether rows are 26 pixels high, in all tables. */
export const useCompact = () => {
  const [isCompact, setCompact] = useState(() => localStorage.getItem(COMPACT_KEY) === 'true')
  const change = useCallback((next: boolean) => {
    localStorage.setItem(COMPACT_KEY, String(next))
    setCompact(next)
  }, [])
  return [isCompact, change] as const
}

const isPinned = ({ pinned }: Preferences, name: string, keys: readonly string[]) =>
  pinned ? pinned.includes(name) : keys.length === 1 && keys[0] === name && window.innerWidth > NARROW

/** The fields in the chosen order: pinned ones first. */
export const arrange = <F extends { readonly name: string }>(
  fields: readonly F[],
  preferences: Preferences,
  keys: readonly string[]
) => {
  const { order, hidden } = preferences
  const position = ({ name }: F) => (order.includes(name) ? order.indexOf(name) : order.length)
  return fields
    .toSorted((a, b) => position(a) - position(b))
    .map((field) => ({
      field,
      isShown: !hidden.includes(field.name),
      isPinned: isPinned(preferences, field.name, keys)
    }))
    .toSorted((a, b) => Number(b.isPinned) - Number(a.isPinned))
}
