import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import { Select } from '../../ui/input.tsx'

interface FieldSelectProps {
  readonly fields: readonly TableField[]
  readonly column: string
  readonly value: string | null
  readonly onChange: (name: string | null) => void
}

/** The field that a column belongs to. The option of no field has an index, because a field can have any name. */
export const FieldSelect = ({ fields, column, value, onChange }: FieldSelectProps) => (
  <Select
    isCompact
    aria-label={texts.column(column)}
    value={fields.findIndex(({ name }) => name === value)}
    onChange={({ target }) => onChange(fields[Number(target.value)]?.name ?? null)}
  >
    <option value={-1}>{texts.ignore}</option>
    {fields.map(({ name }, index) => (
      <option key={name} value={index}>
        {name}
      </option>
    ))}
  </Select>
)
