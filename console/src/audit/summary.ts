import { texts } from '../texts/audit.ts'
import { formatBytes } from '../ui/size.ts'
import { formatTime } from '../ui/time.tsx'

const numberText = (value: number, name: string) => {
  if (name === 'bytes') return formatBytes(value)
  return name.endsWith('At') ? formatTime(value) : String(value)
}

const textOf = (value: unknown, name: string): string => {
  if (value === null || value === '') return texts.nothing
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  if (typeof value === 'number') return numberText(value, name)
  if (Array.isArray(value)) return value.length === 0 ? texts.nothing : value.map((item) => textOf(item, '')).join(', ')
  return typeof value === 'object' ? `(${summaryText(value)})` : String(value)
}

/** Returns the properties of a summary. A changed flag is named twice: in `changed`, and with its new value. */
const entriesOf = ({ changed, ...values }: Readonly<Record<string, unknown>>) => {
  const others = Array.isArray(changed) ? changed.filter((name) => !(String(name) in values)) : []
  return [...(others.length > 0 ? [['changed', others] as const] : []), ...Object.entries(values)]
}

/** Returns the summary of a row in one line: "changed: label; isPublished: no". */
export const summaryText = (summary: object): string =>
  entriesOf({ ...summary })
    .map(([name, value]) => `${name}: ${textOf(value, name)}`)
    .join('; ')
