import { useMutation, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { Problem } from '../../ui/page.tsx'
import list from '../list.module.css'
import type { Table } from '../queries.ts'
import { createIndex, dropIndex, indexesQuery, type TableIndex } from './calls.ts'
import { List } from './list.tsx'
import styles from './structure.module.css'

const MAX_FIELDS = 8

const IndexDialog = ({ table, onClose }: { readonly table: Table; readonly onClose: () => void }) => {
  const [fields, setFields] = useState<readonly string[]>([''])
  const [isUnique, setUnique] = useState(false)
  const chosen = fields.filter((name) => name !== '')
  const guard = useFormGuard(chosen.length > 0 || isUnique)
  const creation = useMutation({ mutationFn: () => createIndex(table, chosen, isUnique) })
  const choose = (index: number, name: string) => {
    const next = fields.with(index, name).filter((text) => text !== '')
    setFields(next.length < MAX_FIELDS ? [...next, ''] : next)
  }
  return (
    <Dialog title={texts.newIndex(table.name)} hint={texts.newIndexHint} onClose={() => guard.ask(onClose)}>
      <Form onSubmit={() => creation.mutate(undefined, { onSuccess: onClose })}>
        {fields.map((name, index) => (
          <SelectField
            key={name || 'next'}
            label={texts.indexField(index + 1)}
            value={name}
            onChange={({ target }) => choose(index, target.value)}
          >
            <option value="">{texts.noField}</option>
            {table.fields
              .filter((field) => field.name === name || !chosen.includes(field.name))
              .map((field) => (
                <option key={field.name}>{field.name}</option>
              ))}
          </SelectField>
        ))}
        <Checkbox
          label={texts.uniqueIndex}
          hint={texts.uniqueIndexHint}
          checked={isUnique}
          onChange={({ target }) => setUnique(target.checked)}
        />
        {creation.isError && <Problem error={creation.error} />}
        <Actions>
          <Button variant="quiet" onClick={() => guard.ask(onClose)}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={chosen.length === 0 || creation.isPending}>
            {creation.isPending ? texts.creating : texts.createIndex}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}

const kindOf = ({ isUnique, isPartial, hasExpressions }: TableIndex) =>
  [isUnique && texts.unique, isPartial && texts.partial, hasExpressions && texts.expressions]
    .filter((word) => typeof word === 'string')
    .join(', ')

interface RowProps {
  readonly index: TableIndex
  readonly onDrop: (index: TableIndex) => void
}

const Row = ({ index, onDrop }: RowProps) => (
  <tr>
    <td className={list.name}>{index.fields.join(', ')}</td>
    <td>{kindOf(index)}</td>
    <td className={`${list.name} ${list.dim}`} title={index.name}>
      {index.name}
    </td>
    <td className={list.end}>
      {index.isOurs ? (
        <Button variant="quiet" aria-label={texts.dropIndexOn(index.fields.join(', '))} onClick={() => onDrop(index)}>
          {texts.drop}
        </Button>
      ) : (
        <span className={list.dim}>{texts.notOurs}</span>
      )}
    </td>
  </tr>
)

/** The indexes of the stored table. */
export const IndexSection = ({ table }: { readonly table: Table }) => {
  const indexes = useQuery(indexesQuery(table.id))
  const [isNew, setNew] = useState(false)
  const [dropped, setDropped] = useState<TableIndex | null>(null)
  return (
    <section className={styles.section}>
      <header>
        <h2>{texts.indexes}</h2>
        <Button onClick={() => setNew(true)}>
          <Plus size={14} aria-hidden="true" />
          {texts.createIndex}
        </Button>
      </header>
      {indexes.isError && <Problem error={indexes.error} onRetry={() => indexes.refetch()} />}
      {indexes.data?.length === 0 && <p className={styles.hint}>{texts.noIndexes}</p>}
      {indexes.data && indexes.data.length > 0 && (
        <List columns={[texts.fields, texts.kind, texts.name]}>
          {indexes.data.map((index) => (
            <Row key={index.name} index={index} onDrop={setDropped} />
          ))}
        </List>
      )}
      {isNew && <IndexDialog table={table} onClose={() => setNew(false)} />}
      {dropped && (
        <ConfirmDialog
          title={texts.dropIndexTitle(dropped.fields.join(', '), table.name)}
          hint={texts.dropIndexHint}
          action={texts.dropIndex}
          run={() => dropIndex(table, dropped.name)}
          onClose={() => setDropped(null)}
        />
      )}
    </section>
  )
}
