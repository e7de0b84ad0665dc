import type { Table } from '../../tables/queries.ts'
import { texts as fieldTexts } from '../../texts/fields.ts'
import { texts } from '../../texts/transfer.ts'
import { type PastedRow, settableFields } from './clipboard.ts'
import { FieldSelect } from './field-select.tsx'
import type { Mapping } from './mapping.ts'
import styles from './transfer.module.css'

const MAX_ROWS = 50

/** The first rows, and the first ones that are wrong. */
const shownOf = (rows: readonly PastedRow[]) => {
  const wrong = rows.filter(({ errors }) => errors.size > 0).slice(0, MAX_ROWS)
  const right = rows.slice(0, Math.max(MAX_ROWS - wrong.length, 0))
  return [...new Set([...right, ...wrong])].sort((a, b) => a.number - b.number)
}

interface CellProps {
  readonly row: PastedRow
  readonly index: number
  readonly name: string | null
}

const Cell = ({ row, index, name }: CellProps) => {
  const error = row.errors.get(index)
  const text = row.cells[index] ?? ''
  const isNull = name !== null && row.values[name] === null
  return (
    <td data-ignored={name === null} data-wrong={error !== undefined} title={error ?? text} dir="auto">
      {isNull ? <span className={styles.null}>{fieldTexts.null}</span> : text}
      {error !== undefined && <span className={styles.reason}>{error}</span>}
    </td>
  )
}

interface PastePreviewProps {
  readonly table: Table
  readonly rows: readonly PastedRow[]
  readonly mapping: Mapping
  readonly onChange: (mapping: Mapping) => void
}

/** The pasted rows below the fields that their columns become. Wrong cells are marked. */
export const PastePreview = ({ table, rows, mapping, onChange }: PastePreviewProps) => {
  const shown = shownOf(rows)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A scrolled area must be reachable with the keyboard.
    <section className={styles.scroll} tabIndex={0} aria-label={texts.columns}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{texts.row}</th>
            {mapping.map((name, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: A column is known by its position only.
              <th key={index} scope="col">
                <FieldSelect
                  fields={settableFields(table)}
                  column={String(index + 1)}
                  value={name}
                  onChange={(field) => onChange(mapping.with(index, field))}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.number}>
              <td className={styles.number}>{row.number}</td>
              {mapping.map((name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: A column is known by its position only.
                <Cell key={index} row={row} index={index} name={name} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && <p className={styles.more}>{texts.more(rows.length - shown.length)}</p>}
    </section>
  )
}
