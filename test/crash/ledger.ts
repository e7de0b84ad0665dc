/** The state of a record, table or field. `value` is null if it does not exist, and always 1 for tables and fields. */
export interface State {
  readonly value: number | null
  readonly counter: number
}

/** The state of everything that exists, by key: of a record, `table` or `table.field`. */
export type States = ReadonlyMap<string, State>

export const ABSENT: State = { value: null, counter: 0 }

/** The effect of a write: a new value (null: deleted), or an addition to the counter. */
export type Change = { readonly value: number | null } | { readonly add: number }

/** A change of one key. */
export interface KeyChange {
  readonly key: string
  readonly change: Change
}

/** The set of states that are possible: one of these values, and a counter between these limits. */
interface Possible {
  readonly values: readonly (number | null)[]
  readonly minCounter: number
  readonly maxCounter: number
}

const NEVER_WRITTEN: Possible = { values: [null], minCounter: 0, maxCounter: 0 }

/** Returns the states that are possible after a write. A write that was not acknowledged may have been stored or not. */
const after = ({ values, minCounter, maxCounter }: Possible, change: Change, isAcknowledged: boolean): Possible => {
  if ('add' in change) {
    const { add } = change
    const [least, most] = isAcknowledged ? [add, add] : [Math.min(add, 0), Math.max(add, 0)]
    return { values, minCounter: minCounter + least, maxCounter: maxCounter + most }
  }
  return { values: isAcknowledged ? [change.value] : [...values, change.value], minCounter, maxCounter }
}

const allows = ({ values, minCounter, maxCounter }: Possible, { value, counter }: State) =>
  values.includes(value) && (value === null || (minCounter <= counter && counter <= maxCounter))

/** The prefix of the records that are imported. */
export const IMPORTS = 'i0_'

/** The records of a group, which one batch or import creates and one batch deletes. */
export const keysOfGroup = (group: string) =>
  Array.from({ length: group.startsWith(IMPORTS) ? 12 : 3 }, (_, number) => `${group}_${number}`)

/** Returns the group of a record, if its client has this prefix. */
export const groupOf = (key: string, prefix: string) =>
  key.startsWith(`${prefix}g`) ? key.slice(0, key.lastIndexOf('_')) : undefined

/** Two records of a client. Batches move amounts between their counters. */
export const keysOfBalances = (prefix: string) => [`${prefix}p0`, `${prefix}p1`]

/** An import gives all records of a group the same value. */
const isWhole = (states: States, group: string) => {
  const keys = keysOfGroup(group)
  const values = new Set(keys.map((key) => states.get(key)?.value))
  return keys.every((key) => states.has(key)) && (!group.startsWith(IMPORTS) || values.size === 1)
}

/** Returns a description for each batch and each small import of which only a part is stored. */
const tornWrites = (states: States) => {
  const prefixes = new Set([...states.keys()].flatMap((key) => /^[bi]\d+_/.exec(key) ?? []))
  return [...prefixes].flatMap((prefix) => {
    const balances = keysOfBalances(prefix).map((key) => states.get(key) ?? ABSENT)
    const sum = balances.reduce((total, { counter }) => total + counter, 0)
    const present = balances.filter(({ value }) => value !== null)
    const groups = new Set([...states.keys()].flatMap((key) => groupOf(key, prefix) ?? []))
    const torn = [...groups].filter((group) => !isWhole(states, group))
    return [
      ...(sum === 0 && present.length !== 1 ? [] : [`the balances of ${prefix} are ${JSON.stringify(balances)}`]),
      ...torn.map((group) => `only a part of ${group} is stored`)
    ]
  })
}

export interface Ledger {
  readonly counts: { acknowledged: number; unknown: number }
  /** Returns an independent copy. */
  copy(): Ledger
  /** Records a write that was acknowledged, or whose result is unknown. */
  record(changes: readonly KeyChange[], isAcknowledged: boolean): void
  /** Returns a description if the state of one key contradicts the acknowledgements, else an empty list. */
  fault(key: string, state: State): readonly string[]
  /** Returns a description for each key that is lost, wrong, or exists and should not. `states` is complete. */
  faults(states: States): readonly string[]
  /** Makes an observed state the only possible one. */
  settle(key: string, state: State): void
  settleAll(states: States): void
  /** Returns the keys that certainly exist. */
  certain(): readonly string[]
  isCertain(key: string): boolean
  /** Returns the minimum of a counter, which is its value if the state is certain. */
  counterOf(key: string): number
  /** Returns a number that was not used before. */
  next(): number
}

/** A record of all writes that clients sent: the states that are possible after the acknowledged and the unknown ones. */
export const createLedger = (initial: ReadonlyMap<string, Possible> = new Map()): Ledger => {
  let entries = new Map(initial)
  let last = 0
  const counts = { acknowledged: 0, unknown: 0 }

  const possible = (key: string) => entries.get(key) ?? NEVER_WRITTEN

  const record = (changes: readonly KeyChange[], isAcknowledged: boolean) => {
    counts[isAcknowledged ? 'acknowledged' : 'unknown'] += 1
    for (const { key, change } of changes) entries.set(key, after(possible(key), change, isAcknowledged))
  }

  const fault = (key: string, state: State) =>
    allows(possible(key), state) ? [] : [`${key} is ${JSON.stringify(state)}, not ${JSON.stringify(possible(key))}`]

  const faults = (states: States) => [
    ...[...new Set([...entries.keys(), ...states.keys()])].flatMap((key) => fault(key, states.get(key) ?? ABSENT)),
    ...tornWrites(states)
  ]

  const settle = (key: string, { value, counter }: State) => {
    if (value === null) entries.delete(key)
    else entries.set(key, { values: [value], minCounter: counter, maxCounter: counter })
  }

  return {
    counts,
    copy: () => createLedger(entries),
    record,
    fault,
    faults,
    settle,
    settleAll: (states: States) => {
      entries = new Map()
      for (const [key, state] of states) settle(key, state)
    },
    certain: () => [...entries].filter(([, { values }]) => !values.includes(null)).map(([key]) => key),
    isCertain: (key: string) => !possible(key).values.includes(null),
    counterOf: (key: string) => possible(key).minCounter,
    next: () => {
      last += 1
      return last
    }
  }
}
