import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import type { ImportPlan } from './import-file.ts'
import { fieldOf } from './mapping.ts'
import styles from './transfer.module.css'

interface LeftOutProps {
  readonly table: Table
  readonly plan: ImportPlan
}

/** The columns of the file that are not imported, and why. */
export const LeftOut = ({ table, plan }: LeftOutProps) => {
  const leftOut = plan.columns.filter((_, index) => plan.mapping[index] === null)
  const names = [...new Set(leftOut.map(({ name }) => name))]
  if (names.length === 0) return null
  return (
    <div className={styles.leftOut} role="note">
      <p>{texts.leftOut(names.length)}</p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <bdi>{name}</bdi>:{' '}
            {fieldOf(table.fields, name) ? texts.leftOutByChoice : texts.leftOutUnknown(titleOf(table))}
          </li>
        ))}
      </ul>
    </div>
  )
}
