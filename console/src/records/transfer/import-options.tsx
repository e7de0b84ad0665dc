import { DELIMITERS, type Delimiter } from '../../api/delimiter.ts'
import type { Table } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import { Checkbox, SelectField } from '../../ui/field.tsx'
import { FieldSelect } from './field-select.tsx'
import type { ImportPlan } from './import-file.ts'
import { LeftOut } from './left-out.tsx'
import { mapHeaders } from './mapping.ts'
import { columnsOf } from './source.ts'
import styles from './transfer.module.css'

interface ImportOptionsProps {
  readonly table: Table
  readonly plan: ImportPlan
  readonly onChange: (plan: ImportPlan) => void
}

const MAX_EXAMPLE = 60

const Columns = ({ table, plan, onChange }: ImportOptionsProps) => (
  <div className={styles.scroll}>
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{texts.inFile}</th>
          <th scope="col">{texts.example}</th>
          <th scope="col">{texts.inTable}</th>
        </tr>
      </thead>
      <tbody>
        {plan.columns.map(({ name, example }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: Two columns of a file can have the same name.
          <tr key={index}>
            <td dir="auto">{name}</td>
            <td className={styles.example} dir="auto">
              {example.slice(0, MAX_EXAMPLE)}
            </td>
            <td>
              <FieldSelect
                fields={table.fields}
                column={name}
                value={plan.mapping[index] ?? null}
                onChange={(field) => onChange({ ...plan, mapping: plan.mapping.with(index, field) })}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const Delimiters = ({ table, plan, onChange }: ImportOptionsProps) => {
  const change = (delimiter: Delimiter) => {
    const source = { ...plan.source, delimiter }
    const columns = columnsOf(source)
    const headers = columns.map(({ name }) => name)
    onChange({ ...plan, source, columns, mapping: mapHeaders(table.fields, headers) })
  }
  return (
    <SelectField
      label={texts.delimiter}
      value={plan.source.delimiter}
      onChange={({ target }) => change(target.value as Delimiter)}
    >
      {DELIMITERS.map((delimiter) => (
        <option key={delimiter} value={delimiter}>
          {texts.delimiters[delimiter]}
        </option>
      ))}
    </SelectField>
  )
}

const Keys = ({ table, plan, onChange }: ImportOptionsProps) => (
  <SelectField label={texts.on} value={plan.on} onChange={({ target }) => onChange({ ...plan, on: target.value })}>
    <option value="">{texts.primaryKey(table.primaryKey)}</option>
    {table.fields
      .filter(({ isUnique, isPrimary }) => isUnique && !isPrimary)
      .map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
  </SelectField>
)

/** How the columns of a file become fields, and what happens to records that exist. */
export const ImportOptions = (props: ImportOptionsProps) => {
  const { plan, onChange } = props
  const isCsv = plan.source.format === 'csv'
  return (
    <>
      <Columns {...props} />
      <LeftOut table={props.table} plan={plan} />
      <div className={styles.options}>
        {isCsv && <Delimiters {...props} />}
        <SelectField
          label={texts.mode}
          value={plan.isUpsert ? 'upsert' : 'insert'}
          onChange={({ target }) => onChange({ ...plan, isUpsert: target.value === 'upsert' })}
        >
          <option value="insert">{texts.insert}</option>
          <option value="upsert">{texts.upsert}</option>
        </SelectField>
        {plan.isUpsert && <Keys {...props} />}
      </div>
      {isCsv && (
        <Checkbox
          label={texts.unguard}
          hint={texts.unguardHint}
          checked={plan.isGuarded}
          onChange={({ target }) => onChange({ ...plan, isGuarded: target.checked })}
        />
      )}
    </>
  )
}
