import { texts } from '../texts/common.ts'

const UNITS = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000]
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const relativeTo = (now: number, time: number) => {
  const [unit, milliseconds] = UNITS.find(([, size]) => Math.abs(now - time) >= size) ?? (['second', 1000] as const)
  return relative.format(Math.round((time - now) / milliseconds), unit)
}

/** Returns the local time of epoch milliseconds as text. */
export const formatTime = (value: number) => local.format(value)

/** The local time, with the exact value on hover. `value`: epoch milliseconds. */
export const LocalTime = ({ value }: { readonly value: number }) => (
  <time dateTime={new Date(value).toISOString()} title={`${new Date(value).toISOString()} · ${value}`}>
    {formatTime(value)}
  </time>
)

/** A time in words ("3 days ago"), with the local time and the exact value on hover. `value`: epoch milliseconds. */
export const Time = ({ value }: { readonly value: number | null }) =>
  value === null ? (
    <span>{texts.never}</span>
  ) : (
    <time dateTime={new Date(value).toISOString()} title={`${formatTime(value)} · ${value}`}>
      {relativeTo(Date.now(), value)}
    </time>
  )
