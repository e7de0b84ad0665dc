import styles from './reference-text.module.css'

interface ReferenceTextProps {
  /** The value of the foreign key. */
  readonly value: string
  /** The label of the record; undefined if it has none, or is not known yet. */
  readonly label: string | undefined
}

/** A foreign key as people read it: the label of the record, and its key. */
export const ReferenceText = ({ value, label }: ReferenceTextProps) =>
  label === undefined ? (
    <span className={styles.key}>{value}</span>
  ) : (
    <>
      <span className={styles.label} dir="auto">
        {label}
      </span>{' '}
      <span className={styles.dim}>{value}</span>
    </>
  )
