import type { ReactNode } from 'react'
import { texts } from '../../texts/structure.ts'
import { Hidden } from '../../ui/hidden.tsx'
import styles from '../list.module.css'

interface ListProps {
  /** The names of the columns, without the last one, which has the actions of a row. */
  readonly columns: readonly string[]
  /** The rows. */
  readonly children: ReactNode
}

/** A part of the structure: its rows, and at their end what can be done with them. */
export const List = ({ columns, children }: ListProps) => (
  <div className={styles.scroll}>
    <table className={styles.list}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
          <th>
            <Hidden>{texts.actions}</Hidden>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
