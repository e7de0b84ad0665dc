/** What somebody saw of a thing: null where there is none. Records have both, tables and fields have the value 1. */
export interface Seen {
  readonly value: number | null
  readonly counter: number
}

export type Sight = ReadonlyMap<string, Seen>

export const ABSENT: Seen = { value: null, counter: 0 }

/** What a call does to a thing once it is carried out. */
export type Change = { readonly value: number | null } | { readonly add: number }

/** Every state that a thing may rightly be in: one of these values, and a counter between these two. */
interface Possible {
  readonly values: readonly (number | null)[]
  readonly least: number
  readonly most: number
}

const UNHEARD: Possible = { values: [null], least: 0, most: 0 }

/** What was acknowledged is so; what was sent and not acknowledged may be so or not. */
const after = ({ values, least, most }: Possible, change: Change, isAcknowledged: boolean): Possible => {
  if ('add' in change) return { values, least: isAcknowledged ? least + change.add : least, most: most + change.add }
  return { values: isAcknowledged ? [change.value] : [...values, change.value], least, most }
}

const allows = ({ values, least, most }: Possible, { value, counter }: Seen) =>
  values.includes(value) && (value === null || (least <= counter && counter <= most))

export interface Ledger {
  readonly counts: { acknowledged: number; unknown: number }
  /** The same knowledge, to go another way from here. */
  copy(): Ledger
  /** A call was answered with a success, or its outcome is not known. */
  note(key: string, change: Change, isAcknowledged: boolean): void
  /** What contradicts the acknowledgements in one thing: nothing, or a sentence. */
  fault(key: string, seen: Seen): readonly string[]
  /** The same in all there is: what is lost, and what is there and should not be. */
  faults(sight: Sight): readonly string[]
  /** From now on nothing but what was seen is possible. */
  settle(key: string, seen: Seen): void
  settleAll(sight: Sight): void
  /** The things that are there for certain. */
  certain(): readonly string[]
  isCertain(key: string): boolean
  /** A number that was not used before. */
  next(): number
}

/** What the clients of a service know: all that was acknowledged to them, and what may have happened besides. */
export const createLedger = (known: ReadonlyMap<string, Possible> = new Map()): Ledger => {
  let things = new Map(known)
  let last = 0
  const counts = { acknowledged: 0, unknown: 0 }

  const possible = (key: string) => things.get(key) ?? UNHEARD

  const note = (key: string, change: Change, isAcknowledged: boolean) => {
    counts[isAcknowledged ? 'acknowledged' : 'unknown'] += 1
    things.set(key, after(possible(key), change, isAcknowledged))
  }

  const fault = (key: string, seen: Seen) =>
    allows(possible(key), seen) ? [] : [`${key} is ${JSON.stringify(seen)}, not ${JSON.stringify(possible(key))}`]

  const faults = (sight: Sight) =>
    [...new Set([...things.keys(), ...sight.keys()])].flatMap((key) => fault(key, sight.get(key) ?? ABSENT))

  const settle = (key: string, { value, counter }: Seen) => {
    if (value === null) things.delete(key)
    else things.set(key, { values: [value], least: counter, most: counter })
  }

  return {
    counts,
    copy: () => createLedger(things),
    note,
    fault,
    faults,
    settle,
    settleAll: (sight: Sight) => {
      things = new Map()
      for (const [key, seen] of sight) settle(key, seen)
    },
    certain: () => [...things].filter(([, { values }]) => !values.includes(null)).map(([key]) => key),
    isCertain: (key: string) => !possible(key).values.includes(null),
    next: () => {
      last += 1
      return last
    }
  }
}
