import { useState } from 'react'
import type { Table } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/records-filter.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { toFilter, toModel } from './convert.ts'
import styles from './filter.module.css'
import { type FilterModel, findInvalid, newCondition, parseFilter } from './filter.ts'
import { FilterBuilder } from './filter-builder.tsx'

const firstModel = ({ fields }: Table, text: string): FilterModel => {
  const filter = parseFilter(text)
  const model = filter && toModel(fields, filter)
  return model ?? { match: 'all', items: fields.slice(0, 1).map(newCondition) }
}

interface FilterDialogProps {
  readonly table: Table
  /** The present filter as JSON text. */
  readonly filter: string
  readonly onApply: (filter: string) => void
  readonly onClose: () => void
}

/** Edits the filter. */
export const FilterDialog = ({ table, filter, onApply, onClose }: FilterDialogProps) => {
  const [start] = useState(() => firstModel(table, filter))
  const [model, setModel] = useState(start)
  const guard = useFormGuard(model !== start)
  const [isTried, setTried] = useState(false)
  const invalid = findInvalid(table.fields, model)
  const next = invalid.size === 0 ? toFilter(table.fields, model) : null
  const json = next ? JSON.stringify(next) : ''
  const present = filter === '' ? undefined : parseFilter(filter)
  const isReplaced = filter !== '' && (!present || toModel(table.fields, present) === null)
  const apply = () => {
    setTried(true)
    if (invalid.size > 0) return
    guard.release()
    onApply(json)
  }
  const close = () => guard.ask(onClose)
  return (
    <Dialog title={texts.title} isWide onClose={close} {...(isReplaced && { hint: texts.edited })}>
      <Form onSubmit={apply}>
        <FilterBuilder
          fields={table.fields}
          model={model}
          invalid={isTried ? invalid : new Map()}
          onChange={setModel}
        />
        {json !== '' && (
          <details className={styles.json}>
            <summary>{texts.json}</summary>
            <p>{texts.jsonHint}</p>
            <pre>{json}</pre>
            <CopyButton text={json} label={texts.copyJson} />
          </details>
        )}
        <Actions>
          <Button onClick={close}>{common.cancel}</Button>
          <Button onClick={() => setModel({ match: 'all', items: [] })}>{texts.clear}</Button>
          <Button type="submit" variant="primary">
            {texts.apply}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
