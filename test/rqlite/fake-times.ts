/** A time that is not within the years 0 to 9999 cannot be written. rqlite returns this error for the statement. */
const outsideYears = () => new RangeError('Time.MarshalText: year outside of range [0,9999]')

const ZERO_TIME = '0001-01-01T00:00:00Z'
const NANOSECONDS = 1_000_000_000n
const MAX_SECONDS = 1_000_000_000_000n

const withFraction = (time: string, nanoseconds: string) => {
  const digits = nanoseconds.slice(0, 9).replace(/0+$/, '')
  return digits === '' ? time : `${time}.${digits}`
}

/** Rounds down, also for negative numbers. */
const split = (total: bigint) => {
  const rest = ((total % NANOSECONDS) + NANOSECONDS) % NANOSECONDS
  return [(total - rest) / NANOSECONDS, rest] as const
}

/**
 * Returns the text for an integer in a column that is declared as a time: rqlite's driver takes a large one as
 * milliseconds, others as seconds.
 */
export const timeOfInteger = (value: bigint) => {
  const isMilliseconds = value > MAX_SECONDS || value < -MAX_SECONDS
  const [seconds, rest] = isMilliseconds ? split(BigInt.asIntN(64, value * 1_000_000n)) : [value, 0n]
  const date = new Date(Number(seconds) * 1000)
  const year = date.getUTCFullYear()
  if (Number.isNaN(year) || year < 0 || year > 9999) throw outsideYears()
  return `${withFraction(date.toISOString().slice(0, 19), String(rest).padStart(9, '0'))}Z`
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?([+-]\d\d:\d\d)?)?)?$/

const isReal = (time: string) => {
  const date = new Date(`${time}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(time)
}

/** Returns the text for a text in such a column. A text that is not a time becomes the first second of the year 1. */
export const timeOfText = (text: string) => {
  const [, date, minutes = '00:00', seconds = '00', fraction = '', offset = '+00:00'] =
    TIME.exec(text.replace(/Z$/, '')) ?? []
  const time = `${date}T${minutes}:${seconds}`
  if (date === undefined || !isReal(time)) return ZERO_TIME
  return `${withFraction(time, fraction)}${/00:00$/.test(offset) ? 'Z' : offset}`
}
