import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import menu from '../../ui/menu.module.css'
import { Problem } from '../../ui/page.tsx'
import { useSource } from '../source.ts'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { placeholderOf } from './placeholder.ts'
import { ReferenceText } from './reference-text.tsx'
import { type Choice, choiceQuery, choicesQuery, type Target, useTarget } from './references.ts'
import { TextEditor } from './text-editor.tsx'

interface PickerProps extends Pick<EditorProps, 'autoFocus' | 'control'> {
  readonly target: Target
  /** The value of the referenced field. Empty, or not a text: none. */
  readonly value: EditorProps['value']
  /** What stands there without a value. */
  readonly placeholder: string | undefined
  readonly onChange: (value: string | null) => void
}

/** The list of records, which are loaded when it opens. */
const List = ({ target, q }: { readonly target: Target; readonly q: string }) => {
  const found = useQuery(choicesQuery(useSource(), target, useDeferredValue(q.trim())))
  const isEmpty = found.data?.length === 0
  return (
    <>
      {found.isError && <Problem error={found.error} />}
      <Combobox.Status className={styles.status}>
        {found.isPending ? texts.searching : isEmpty && texts.noMatch}
      </Combobox.Status>
      <Combobox.List className={styles.choices}>
        {found.data?.map((choice) => (
          <Combobox.Item key={choice.value} value={choice} className={menu.item}>
            <ReferenceText value={choice.value} label={choice.label} />
          </Combobox.Item>
        ))}
      </Combobox.List>
    </>
  )
}

const Chosen = ({ target, value, placeholder }: Pick<PickerProps, 'target' | 'value' | 'placeholder'>) => {
  const hasValue = typeof value === 'string' && value !== ''
  const chosen = useQuery({ ...choiceQuery(useSource(), target, value ?? ''), enabled: hasValue })
  return hasValue ? (
    <ReferenceText value={value} label={chosen.data?.label} />
  ) : (
    <span className={styles.none}>{placeholder}</span>
  )
}

/** A search for a record of another table, by its label or its key. */
export const ReferencePicker = ({ target, value, placeholder, onChange, autoFocus, control }: PickerProps) => {
  const [q, setQ] = useState('')
  return (
    <Combobox.Root<Choice>
      filter={null}
      autoHighlight
      value={typeof value === 'string' ? { value, label: undefined } : null}
      isItemEqualToValue={(item, chosen) => item.value === chosen.value}
      itemToStringLabel={({ value }) => value}
      inputValue={q}
      onInputValueChange={(text, { reason }) => reason === 'input-change' && setQ(text)}
      onOpenChange={(isOpen) => isOpen && setQ('')}
      onValueChange={(choice) => onChange(choice?.value ?? null)}
    >
      <Combobox.Trigger {...control} className={styles.reference} autoFocus={autoFocus}>
        <Chosen target={target} value={value} placeholder={placeholder} />
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
  const { field, value } = props
  const target = useTarget(field)
  if (!target) return <TextEditor {...props} layout="cell" />
  return <ReferencePicker {...props} target={target} placeholder={placeholderOf(field, value)} />
}
