import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type Table, tablesQuery, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import { labelOf } from '../fields/label.ts'
import { ReferenceText } from '../fields/reference-text.tsx'
import { keyOf, type Row } from '../keys.ts'
import { hrefOf, type Incoming, incomingOf } from './links.ts'
import { linkedQuery } from './queries.ts'
import styles from './record-panel.module.css'

/** Some of the records of a list, by their labels. */
const Examples = ({ link }: { readonly link: Incoming }) => {
  const { table } = link
  const found = useQuery({ ...linkedQuery(link), enabled: table.labelField !== null && table.primaryKey !== '' })
  const labelled = (found.data ?? []).map((record) => ({ pk: keyOf(table, record), label: labelOf(table, record) }))
  if (labelled.length === 0) return null
  return (
    <ul className={styles.examples}>
      {labelled.map(({ pk, label }) => (
        <li key={pk}>
          <Link href={`/tables/${table.id}?record=${encodeURIComponent(pk)}`}>
            <ReferenceText value={pk} label={label} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The lists of the records that refer to this one. */
export const LinkedRecords = ({ table, record }: { readonly table: Table; readonly record: Row }) => {
  const tables = useQuery(tablesQuery)
  const incoming = incomingOf(tables.data ?? [], table, record)
  if (incoming.length === 0) return null
  return (
    <section className={styles.links}>
      <h3>{texts.links}</h3>
      <ul>
        {incoming.map((link) => (
          <li key={hrefOf(link)}>
            <Link href={hrefOf(link)}>{texts.linkOf(titleOf(link.table), link.fields.join(', '))}</Link>
            <Examples link={link} />
          </li>
        ))}
      </ul>
    </section>
  )
}
