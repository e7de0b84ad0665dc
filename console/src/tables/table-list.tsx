import { useQuery } from '@tanstack/react-query'
import { EyeOff, Lock, Rows3, ScanEye } from 'lucide-react'
import { type Ref, useState } from 'react'
import { Link, useRoute } from 'wouter'
import { texts } from '../texts/shell.ts'
import { Input } from '../ui/input.tsx'
import { Problem } from '../ui/page.tsx'
import { type Table, tablesQuery, titleOf } from './queries.ts'
import styles from './table-list.module.css'

const matches = ({ name, label }: Table, text: string) =>
  `${name}\n${label}`.toLocaleLowerCase().includes(text.toLocaleLowerCase())

const Flags = ({ isPublished, isEditable }: Table) => (
  <>
    {!isPublished && <EyeOff size={13} aria-label={texts.unpublished} />}
    {isPublished && !isEditable && <Lock size={13} aria-label={texts.readOnly} />}
  </>
)

const Item = ({ table }: { readonly table: Table }) => {
  const [isOpen] = useRoute(`/tables/${table.id}/*?`)
  const Icon = table.kind === 'view' ? ScanEye : Rows3
  return (
    <li>
      <Link href={`/tables/${table.id}`} className={styles.item} aria-current={isOpen ? 'page' : undefined}>
        <Icon size={14} aria-hidden="true" />
        <span className={styles.name} title={table.name} dir="auto">
          {titleOf(table)}
        </span>
        <Flags {...table} />
      </Link>
    </li>
  )
}

/** The tables at the left side, with a filter. */
export const TableList = ({ filterRef }: { readonly filterRef: Ref<HTMLInputElement> }) => {
  const tables = useQuery(tablesQuery)
  const [text, setText] = useState('')
  const shown = (tables.data ?? []).filter((table) => matches(table, text))
  return (
    <>
      <div className={styles.filter}>
        <Input
          isCompact
          ref={filterRef}
          type="search"
          aria-label={texts.filterTables}
          placeholder={`${texts.filterTables}  /`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <ul className={styles.list}>
        {shown.map((table) => (
          <Item key={table.id} table={table} />
        ))}
        {tables.isError && <Problem error={tables.error} onRetry={() => tables.refetch()} />}
        {tables.isSuccess && shown.length === 0 && (
          <li className={styles.none}>{text === '' ? texts.noTables : texts.noMatch(text)}</li>
        )}
      </ul>
    </>
  )
}
