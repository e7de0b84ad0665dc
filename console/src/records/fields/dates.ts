import type { TableField } from '../../tables/queries.ts'

const DATE = /^(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?$/

interface PickerState {
  readonly type: 'date' | 'datetime-local'
  readonly value: string
}

/** Returns the native input for a date text. A text that is not an ISO date has an empty one. */
export const pickerOf = (text: string): PickerState => {
  const [, day, separator, minutes, seconds = ''] = DATE.exec(text) ?? []
  if (day === undefined) return { type: 'date', value: '' }
  return separator === undefined
    ? { type: 'date', value: day }
    : { type: 'datetime-local', value: `${day}T${minutes}${seconds}` }
}

/** Returns the picked date in the form of the present text: its separator, its seconds, its time zone. */
export const withPicked = (text: string, picked: string) => {
  const [, , separator, , seconds, , zone = ''] = DATE.exec(text) ?? []
  if (separator === undefined || picked === '') return picked
  const withSeconds = seconds !== undefined && picked.length === 16 ? `${picked}:00` : picked
  return withSeconds.replace('T', separator) + zone
}

/** Between 1973 and 5138: smaller numbers may be seconds or years. */
const isEpoch = (number: number) => number >= 1e11 && number < 1e14

const TIMESTAMPS: readonly string[] = ['created_at', 'updated_at']

/** Whether the value is a time that the service has set: epoch milliseconds in a field that only the service writes. */
export const isTimestamp = ({ name, isReadonly }: TableField, value: unknown): value is number =>
  isReadonly && TIMESTAMPS.includes(name) && typeof value === 'number' && isEpoch(value)

/** Returns the date of a text that may be epoch milliseconds, in UTC; undefined for any other text. */
export const epochDate = (text: string) => {
  const number = /^\d+$/.test(text) ? Number(text) : 0
  return isEpoch(number) ? new Date(number).toISOString().replace('T', ' ') : undefined
}
