import { useQuery } from '@tanstack/react-query'
import { EyeOff, KeyRound, Lock } from 'lucide-react'
import { Link } from 'wouter'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { fieldTypeOf } from '../fields/values.ts'
import list from '../list.module.css'
import { type Table, type TableField, tablesQuery } from '../queries.ts'
import { List } from './list.tsx'
import styles from './structure.module.css'

const Name = ({ field: { name, isPrimary } }: { readonly field: TableField }) => (
  <span className={styles.name}>
    <span className={list.name} title={name} dir="auto">
      {name}
    </span>
    {isPrimary && <KeyRound size={13} aria-label={texts.key} />}
  </span>
)

/** The other table, as a link if it is registered. */
const Reference = ({ field: { references } }: { readonly field: TableField }) => {
  const tables = useQuery(tablesQuery)
  if (!references) return null
  const target = tables.data?.find(({ name }) => name.toLowerCase() === references.table.toLowerCase())
  const text = `${references.table}.${references.field}`
  return target ? <Link href={`/tables/${target.id}/structure`}>{text}</Link> : text
}

/** The rules of a CHECK, in the form in which one would say them. */
const rulesOf = ({ minimum, maximum, minLength, maxLength, allowedValues }: TableField) =>
  [
    minimum !== undefined && `≥ ${minimum}`,
    maximum !== undefined && `≤ ${maximum}`,
    minLength !== undefined && texts.minLength(minLength),
    maxLength !== undefined && texts.maxLength(maxLength),
    allowedValues && texts.oneOf(allowedValues.map((value) => JSON.stringify(value)).join(', '))
  ].filter((rule) => typeof rule === 'string')

const Flags = ({ field }: { readonly field: TableField }) => {
  const { isHidden, isReadonly, isUnique, isIndexed, isPrimary } = field
  const words = [
    isUnique && !isPrimary && texts.unique,
    isIndexed && !isUnique && !isPrimary && texts.indexed,
    ...rulesOf(field)
  ].filter((word) => typeof word === 'string')
  return (
    <span className={styles.flags}>
      {isHidden && (
        <span className={styles.warning}>
          <EyeOff size={13} aria-hidden="true" /> {texts.hidden}
        </span>
      )}
      {isReadonly && (
        <span>
          <Lock size={13} aria-hidden="true" /> {texts.readonly}
        </span>
      )}
      {words.map((word) => (
        <span key={word} title={word}>
          {word}
        </span>
      ))}
    </span>
  )
}

const Default = ({ field: { defaultValue, defaultKind } }: { readonly field: TableField }) => {
  if (defaultKind === 'none') return null
  const text = defaultKind === 'expression' ? String(defaultValue) : JSON.stringify(defaultValue)
  return <span title={text}>{text}</span>
}

interface FieldListProps {
  readonly table: Table
  readonly onEdit: (field: TableField) => void
  readonly onDrop: (field: TableField) => void
}

const Row = ({ field, table, onEdit, onDrop }: FieldListProps & { readonly field: TableField }) => (
  <tr>
    <td>
      <Name field={field} />
    </td>
    <td dir="auto">{field.label === field.name ? '' : field.label}</td>
    <td>
      {texts.types[fieldTypeOf(field)]} <span className={styles.stored}>{field.sqliteType}</span>
    </td>
    <td className={list.dim}>{field.isNullable ? texts.isNullable : ''}</td>
    <td className={list.value}>
      <Default field={field} />
    </td>
    <td className={list.name}>
      <Reference field={field} />
    </td>
    <td>
      <Flags field={field} />
    </td>
    <td className={list.end}>
      <Button variant="quiet" aria-label={texts.editField(field.name)} onClick={() => onEdit(field)}>
        {texts.edit}
      </Button>
      {table.kind === 'table' && !field.isPrimary && (
        <Button variant="quiet" aria-label={texts.dropField(field.name)} onClick={() => onDrop(field)}>
          {texts.drop}
        </Button>
      )}
    </td>
  </tr>
)

const COLUMNS = [texts.name, texts.label, texts.type, texts.null, texts.defaultValue, texts.references, texts.rules]

/** The fields of a table, as they are stored and as tokens see them. */
export const FieldList = (props: FieldListProps) => (
  <List columns={COLUMNS}>
    {props.table.fields.map((field) => (
      <Row key={field.name} {...props} field={field} />
    ))}
  </List>
)
