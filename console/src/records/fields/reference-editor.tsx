import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import menu from '../../ui/menu.module.css'
import { Problem } from '../../ui/page.tsx'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { placeholderOf } from './placeholder.ts'
import { type Choice, choiceQuery, choicesQuery, type Target, useTarget } from './references.ts'
import { TextEditor } from './text-editor.tsx'

const Item = ({ choice }: { readonly choice: Choice }) => (
  <Combobox.Item value={choice} className={menu.item}>
    <span className={styles.key}>{choice.value}</span>
    <span className={styles.label} dir="auto">
      {choice.label}
    </span>
  </Combobox.Item>
)

/** The list of records, which are loaded when it opens. */
const List = ({ target, q }: { readonly target: Target; readonly q: string }) => {
  const found = useQuery(choicesQuery(target, useDeferredValue(q)))
  const isEmpty = found.data?.length === 0
  return (
    <>
      {found.isError && <Problem error={found.error} />}
      <Combobox.Status className={styles.status}>
        {found.isPending ? texts.searching : isEmpty && texts.noMatch}
      </Combobox.Status>
      <Combobox.List className={styles.choices}>
        {found.data?.map((choice) => (
          <Item key={choice.value} choice={choice} />
        ))}
      </Combobox.List>
    </>
  )
}

const Chosen = ({ target, field, value }: Pick<EditorProps, 'field' | 'value'> & { readonly target: Target }) => {
  const chosen = useQuery({ ...choiceQuery(target, value ?? ''), enabled: typeof value === 'string' && value !== '' })
  if (typeof value !== 'string' || value === '') {
    return <span className={styles.none}>{placeholderOf(field, value)}</span>
  }
  return (
    <>
      <span className={styles.key}>{value}</span>
      <span className={styles.label}>{chosen.data?.label}</span>
    </>
  )
}

const Lookup = ({ target, ...props }: EditorProps & { readonly target: Target }) => {
  const { field, value, onChange, autoFocus, control } = props
  const [q, setQ] = useState('')
  return (
    <Combobox.Root<Choice>
      filter={null}
      autoHighlight
      value={typeof value === 'string' ? { value, label: '' } : null}
      isItemEqualToValue={(item, chosen) => item.value === chosen.value}
      itemToStringLabel={({ value }) => value}
      inputValue={q}
      onInputValueChange={(text, { reason }) => reason === 'input-change' && setQ(text)}
      onOpenChange={(isOpen) => isOpen && setQ('')}
      onValueChange={(choice) => onChange(choice?.value ?? null)}
    >
      <Combobox.Trigger {...control} className={styles.reference} autoFocus={autoFocus}>
        <Chosen target={target} field={field} value={value} />
        <ChevronsUpDown size={13} aria-hidden="true" />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} align="start" className={styles.positioner}>
          <Combobox.Popup className={styles.popup} aria-label={texts.lookUp(titleOf(target.table))}>
            <Combobox.Input
              className={styles.search}
              placeholder={texts.lookUp(titleOf(target.table))}
              aria-label={texts.lookUp(titleOf(target.table))}
            />
            <List target={target} q={q} />
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

/** A foreign key: a search in the referenced table. Without that table, the value itself. */
export const ReferenceEditor = (props: EditorProps) => {
  const target = useTarget(props.field)
  return target ? <Lookup {...props} target={target} /> : <TextEditor {...props} layout="cell" />
}
