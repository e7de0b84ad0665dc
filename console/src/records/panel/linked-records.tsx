import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type Table, tablesQuery, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import type { Row } from '../keys.ts'
import { hrefOf, incomingOf } from './links.ts'
import styles from './record-panel.module.css'

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
          </li>
        ))}
      </ul>
    </section>
  )
}
