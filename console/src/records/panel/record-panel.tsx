import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import { Problem } from '../../ui/page.tsx'
import type { Row } from '../keys.ts'
import { PanelFrame } from './panel-frame.tsx'
import { PanelHeader } from './panel-header.tsx'
import { versionQuery } from './queries.ts'
import { RecordForm } from './record-form.tsx'

export interface RecordPanelProps {
  readonly table: Table
  /** The key of the record, made by `keyOf`. null: a new record. */
  readonly pk: string | null
  /** The first values of a new record. */
  readonly initial?: Row
  readonly onClose: () => void
  /** Called after a create or an update with the key of the record, if the user has not left the panel. */
  readonly onSaved: (pk: string) => void
}

interface StoredProps extends RecordPanelProps {
  readonly pk: string
  readonly onDuplicate: (row: Row) => void
}

const Stored = ({ table, pk, ...on }: StoredProps) => {
  const version = useQuery(versionQuery(table, pk))
  const title = texts.title(titleOf(table), pk)
  if (version.data) {
    return <RecordForm key={pk} table={table} pk={pk} start={version.data} {...on} />
  }
  return (
    <PanelFrame title={title} onClose={on.onClose}>
      <PanelHeader title={title} onClose={on.onClose} />
      {version.isError && <Problem error={version.error} onRetry={() => version.refetch()} />}
    </PanelFrame>
  )
}

/** The panel of one record, or of a new one. After a create it shows the new record. */
const Panel = ({ pk, initial, onSaved, ...props }: RecordPanelProps) => {
  const [shown, setShown] = useState({ pk, initial })
  const show = (next: string) => {
    setShown({ pk: next, initial: undefined })
    onSaved(next)
  }
  const onDuplicate = (row: Row) => setShown({ pk: null, initial: row })
  const shared = { ...props, onDuplicate, onSaved: show }
  return shown.pk === null ? (
    <RecordForm key={`new ${JSON.stringify(shown.initial)}`} {...shared} pk={null} initial={shown.initial ?? {}} />
  ) : (
    <Stored key={shown.pk} {...shared} pk={shown.pk} />
  )
}

/** Shows a record at the right side of the page, to read, edit, duplicate and delete it. */
export const RecordPanel = (props: RecordPanelProps) => (
  <Panel key={JSON.stringify([props.table.id, props.pk])} {...props} />
)
