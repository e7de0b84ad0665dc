import { texts } from '../../texts/from-file.ts'
import list from '../list.module.css'
import styles from './file.module.css'
import type { FromFile } from './source.ts'

const Cell = ({ value }: { readonly value: unknown }) => {
  if (value === null || value === undefined) return <span className={styles.null}>{texts.null}</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return <span title={text}>{text}</span>
}

const NUMERIC = ['integer', 'number']

/** The fields and the first records of the table that a file would become. */
export const Preview = ({ data: { fields, rows, created } }: { readonly data: FromFile }) => (
  <section className={styles.preview}>
    <h2>{texts.previewOf(created, fields.length)}</h2>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls. */}
    <div className={list.scroll} tabIndex={0}>
      <table className={list.list}>
        <thead>
          <tr>
            {fields.map(({ name, jsonType, isPrimary }) => (
              <th key={name} title={name} className={NUMERIC.includes(jsonType) ? list.number : undefined}>
                <span dir="auto">{name}</span>{' '}
                <span className={styles.type}>{texts.typeOf(jsonType, isPrimary === true)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: The records of a preview keep their places.
            <tr key={index}>
              {fields.map(({ name, jsonType }) => (
                <td key={name} className={NUMERIC.includes(jsonType) ? `${list.value} ${list.number}` : list.value}>
                  <Cell value={row[name]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    {created > rows.length && <p className={styles.hint}>{texts.firstRows(rows.length)}</p>}
  </section>
)
