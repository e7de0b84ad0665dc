import { useQuery } from '@tanstack/react-query'
import { texts } from '../../texts/table-fields.ts'
import { SelectField } from '../../ui/field.tsx'
import { type Table, tablesQuery, titleOf } from '../queries.ts'
import type { OnDelete } from './draft.ts'
import type { FieldRowProps } from './field-row.tsx'

const ON_DELETES = ['noAction', 'restrict', 'cascade', 'setNull'] as const satisfies readonly OnDelete[]

/** A reference leads to the key, or to a unique field. */
const targetsOf = ({ primaryKey, fields }: Table) =>
  fields.filter(({ name, isUnique }) => isUnique || name === primaryKey).map(({ name }) => name)

const Target = ({
  draft,
  path,
  problems,
  onChange,
  target
}: FieldRowProps & { readonly target: Table | undefined }) => (
  <>
    <SelectField
      label={texts.targetField}
      error={problems.get(`${path}/references/field`)}
      value={draft.targetField}
      onChange={(event) => onChange({ targetField: event.target.value })}
    >
      <option value="">{texts.chooseField}</option>
      {(target ? targetsOf(target) : []).map((name) => (
        <option key={name}>{name}</option>
      ))}
    </SelectField>
    <SelectField
      label={texts.onDelete}
      error={problems.get(`${path}/references/onDelete`)}
      value={draft.onDelete}
      onChange={(event) => onChange({ onDelete: event.target.value as OnDelete })}
    >
      {ON_DELETES.map((name) => (
        <option key={name} value={name}>
          {texts.onDeletes[name]}
        </option>
      ))}
    </SelectField>
  </>
)

/** The other table and its field that a field refers to. */
export const ReferenceFields = (row: FieldRowProps) => {
  const { draft, path, problems, onChange } = row
  const tables = (useQuery(tablesQuery).data ?? []).filter(({ kind }) => kind === 'table')
  const choose = (name: string) => {
    const found = tables.find((table) => table.name === name)
    onChange({ targetTable: name, targetField: found ? (targetsOf(found)[0] ?? '') : '' })
  }
  return (
    <>
      <SelectField
        label={texts.reference}
        error={problems.get(`${path}/references/table`) ?? problems.get(`${path}/references`)}
        value={draft.targetTable}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{texts.noReference}</option>
        {tables.map((table) => (
          <option key={table.id} value={table.name}>
            {titleOf(table)}
          </option>
        ))}
      </SelectField>
      {draft.targetTable !== '' && <Target {...row} target={tables.find(({ name }) => name === draft.targetTable)} />}
    </>
  )
}
