import BetterSqlite3, { type Database as Connection } from 'better-sqlite3'

/** Functions of better-sqlite3 that rqlite is built without, with the numbers of their arguments. */
const MISSING: Readonly<Record<string, readonly number[]>> = {
  ...Object.fromEntries(
    'acos acosh asin asinh atan atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 radians sin sinh sqrt tan tanh trunc soundex'
      .split(' ')
      .map((name) => [name, [1]])
  ),
  atan2: [2],
  mod: [2],
  pow: [2],
  power: [2],
  pi: [0]
}

/** Functions with arguments have a length, from which better-sqlite3 takes their number. */
const WITH_ARGUMENTS = (run: () => never) => [() => run(), (_: unknown) => run(), (_: unknown, __: unknown) => run()]

/** Makes the functions fail that rqlite does not have. The error comes when they run, not when they are compiled. */
export const removeFunctions = (db: Connection) => {
  for (const [name, counts] of Object.entries(MISSING)) {
    const fail = (): never => {
      throw new Error(`no such function: ${name}`)
    }
    for (const count of counts) {
      const replacement = WITH_ARGUMENTS(fail)[count]
      if (replacement) db.function(name, { deterministic: true }, replacement)
    }
  }
}

/** The clock of the second node is an hour and a second late. */
const LATE_SECONDS = 3601

const TIME_FUNCTIONS = ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime']
const KEYWORDS = { current_date: 'date', current_time: 'time', current_timestamp: 'datetime' }

const isNow = (value: unknown) => typeof value === 'string' && value.trim().toLowerCase() === 'now'

/** Makes all functions that return the current time return another time. They compute it on a connection of their own. */
export const addOwnClock = (db: Connection) => {
  const clock = new BetterSqlite3(':memory:').defaultSafeIntegers()
  const now = () => Date.now() / 86_400_000 + 2_440_587.5 - LATE_SECONDS / 86_400
  const call = (name: string, args: readonly unknown[]) => {
    const isImplicit = args.length === 0 || (name === 'strftime' && args.length === 1)
    const values = (isImplicit ? [...args, 'now'] : args).map((arg) => (isNow(arg) ? now() : arg))
    return clock
      .prepare(`SELECT ${name}(${values.map(() => '?').join(', ')})`)
      .pluck()
      .get(...values)
  }
  const options = { deterministic: true, safeIntegers: true }
  for (const name of TIME_FUNCTIONS) {
    db.function(name, { ...options, varargs: true }, (...args: unknown[]) => call(name, args))
  }
  db.function('timediff', options, (a: unknown, b: unknown) => call('timediff', [a, b]))
  for (const [keyword, name] of Object.entries(KEYWORDS)) db.function(keyword, options, () => call(name, []))
}
