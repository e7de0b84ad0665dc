import { ArrowUpRight, Download } from 'lucide-react'
import { Link } from 'wouter'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import { classes } from '../../ui/classes.ts'
import { formatBytes } from '../../ui/size.ts'
import { LocalTime } from '../../ui/time.tsx'
import { useSource } from '../source.ts'
import { downloadBytes, isBase64, sizeOf } from './bytes.ts'
import { isTimestamp } from './dates.ts'
import styles from './field-value.module.css'
import { isNumeric, kindOf } from './kind.ts'
import { ReferenceText } from './reference-text.tsx'
import { recordHref, useTarget } from './references.ts'

const MAX_TITLE = 2000
/** A cell shows about 100 characters. Longer text slows down the layout of the page. */
const MAX_SHOWN = 400

export interface FieldValueProps {
  readonly table: Pick<Table, 'name'>
  readonly field: TableField
  readonly value: unknown
  /** The label of the record to which a foreign key refers. */
  readonly label?: string | undefined
}

const Bytes = ({ table, field, value }: FieldValueProps & { readonly value: string }) => (
  <span className={styles.bytes}>
    {formatBytes(sizeOf(value))}
    <button
      type="button"
      className={styles.action}
      aria-label={texts.download(field.name)}
      title={texts.download(field.name)}
      onClick={(event) => {
        event.stopPropagation()
        downloadBytes(value, `${table.name}-${field.name}.bin`)
      }}
    >
      <Download size={12} aria-hidden="true" />
    </button>
  </span>
)

/** Returns the address if the text is one of the web. A value never becomes any other link. */
export const webAddress = (text: string) => {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

const Text = ({ text }: { readonly text: string }) => {
  const href = webAddress(text)
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text
  return href === undefined ? (
    shown
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer" onClick={(event) => event.stopPropagation()}>
      {shown}
    </a>
  )
}

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Opens the record that a foreign key refers to. */
const ReferenceLink = ({ field, value }: Pick<FieldValueProps, 'field' | 'value'>) => {
  const target = useTarget(field)
  const { canOpen } = useSource()
  const href = target && recordHref(target, value)
  if (!canOpen || !target || href === undefined) return null
  const label = texts.refersTo(target.table.name, String(value))
  return (
    <Link href={href} className={styles.action} aria-label={label} title={label}>
      <ArrowUpRight size={12} aria-hidden="true" />
    </Link>
  )
}

/** Stands for a value that is loaded only with its record. */
export const NotLoaded = () => (
  <span className={styles.dim} title={texts.notLoadedHint}>
    {texts.notLoaded}
  </span>
)

/** A value in a cell, on one line. It is text, never HTML. */
export const FieldValue = ({ table, field, value, label }: FieldValueProps) => {
  if (value === null || value === undefined) return <span className={styles.dim}>{texts.null}</span>
  if (value === '') return <span className={classes(styles.dim, styles.empty)}>{texts.empty}</span>
  if (typeof value === 'string' && kindOf(field) === 'bytes' && isBase64(value)) {
    return <Bytes table={table} field={field} value={value} />
  }
  if (isTimestamp(field, value)) {
    return (
      <span className={classes(styles.value, styles.right)}>
        <LocalTime value={value} />
      </span>
    )
  }
  const text = textOf(value)
  const isRight = isNumeric(field) && !field.references
  const title = label === undefined ? text : texts.labelAndKey(label, text)
  return (
    <span className={classes(styles.value, isRight && styles.right)} title={title.slice(0, MAX_TITLE)} dir="auto">
      {label === undefined ? (
        <span className={styles.text}>
          <Text text={text} />
        </span>
      ) : (
        <ReferenceText value={text} label={label} />
      )}
      {field.references && <ReferenceLink field={field} value={value} />}
    </span>
  )
}
