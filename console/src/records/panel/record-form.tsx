import { useEffect, useId, useState } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/record-panel.ts'
import { Button } from '../../ui/button.tsx'
import { LeaveDialog } from '../../ui/leave-dialog.tsx'
import { type LeaveGuard, useLeaveGuard } from '../../ui/leave-guard.ts'
import { FormProblem } from '../../ui/page.tsx'
import { notify } from '../../ui/toast.tsx'
import { ConflictDialog } from '../conflict/conflict-dialog.tsx'
import { labelOf } from '../fields/label.ts'
import type { Row } from '../keys.ts'
import type { Version } from '../queries.ts'
import { useCanEdit } from '../source.ts'
import { copyOf, hasEditorOf } from './drafts.ts'
import { FieldRow } from './field-row.tsx'
import { LinkedRecords } from './linked-records.tsx'
import { PanelFrame } from './panel-frame.tsx'
import { PanelHeader } from './panel-header.tsx'
import { RecordActions } from './record-actions.tsx'
import styles from './record-panel.module.css'
import { RecordPanel } from './record-panel.tsx'
import { type RecordFormState, useRecordForm } from './use-record-form.ts'

interface RecordFormProps {
  readonly table: Table
  /** null: a new record. */
  readonly pk: string | null
  readonly start?: Version
  readonly initial?: Row
  readonly onClose: () => void
  readonly onSaved: (pk: string) => void
  readonly onDuplicate: (row: Row) => void
}

/** A record in a panel above this one. */
interface Opened {
  readonly table: Table
  readonly pk: string
}

const nameOf = ({ table, pk }: Pick<RecordFormProps, 'table' | 'pk'>) =>
  pk === null ? texts.newRecord(titleOf(table)) : texts.title(titleOf(table), pk)

interface FooterProps {
  readonly table: Table
  readonly form: RecordFormState
  readonly isNew: boolean
}

const Footer = ({ table, form, isNew }: FooterProps) => (
  <footer className={styles.footer}>
    <FormProblem error={form.problem} fields={(path) => hasEditorOf(table, path, isNew)} />
    <span className={styles.state} aria-live="polite">
      {form.wrong > 0 && texts.errors(form.wrong)}
    </span>
    <Button type="submit" variant="primary" disabled={form.isSaving || (!isNew && !form.isDirty)}>
      {isNew ? texts.create : common.save}
      <span className={styles.shortcut} aria-hidden="true">
        {texts.shortcut}
      </span>
    </Button>
  </footer>
)

/** A change of the filter or the order keeps the panel. */
const keepsRecord = (to: URL, from: URL) =>
  to.pathname === from.pathname &&
  ['record', 'new'].every((name) => to.searchParams.get(name) === from.searchParams.get(name))

/** The panel of a record whose values are known. */
export const RecordForm = ({ table, pk, start, initial, onClose, onSaved, onDuplicate }: RecordFormProps) => {
  const formId = useId()
  const [opened, setOpened] = useState<Opened | null>(null)
  const form = useRecordForm({
    table,
    pk,
    start,
    initial,
    onSaved: (key) => {
      const saved = nameOf({ table, pk: key })
      notify({ title: pk === null ? texts.created(saved) : texts.saved(saved) })
    },
    onShow: (key) => {
      guard.release()
      onSaved(key)
    }
  })
  const guard: LeaveGuard = useLeaveGuard(form.isDirty, keepsRecord)
  useEffect(() => {
    // The record was saved while the dialog was open.
    if (guard.isAsking && !form.isDirty) guard.leave()
  }, [guard, form.isDirty])
  const canEdit = useCanEdit(table)
  const name = nameOf({ table, pk })
  const save = () => {
    const isTop = opened === null && form.theirs === null && !guard.isAsking
    if (canEdit && isTop && !form.isSaving && form.wrong === 0 && (pk === null || form.isDirty)) form.save()
  }
  useShortcut('Mod+s', save)
  const close = () => guard.ask(onClose)
  const { version } = form
  return (
    <PanelFrame title={name} onClose={close}>
      <PanelHeader title={name} sub={version && labelOf(table, version.record)} onClose={close}>
        {pk !== null && version && canEdit && (
          <RecordActions
            table={table}
            pk={pk}
            version={version}
            name={name}
            onDuplicate={() => guard.ask(() => onDuplicate(copyOf(table, version.record)))}
            onDeleted={() => {
              guard.release()
              onClose()
            }}
          />
        )}
      </PanelHeader>
      <form
        className={styles.form}
        id={formId}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          save()
        }}
      >
        {/* What is typed while a record is being saved would be lost. */}
        <div className={styles.fields} data-page-body inert={form.isSaving}>
          {!canEdit && <p className={styles.hint}>{texts.viewHint}</p>}
          {table.fields.map((field) => (
            <FieldRow
              key={field.name}
              table={table}
              field={field}
              isNew={pk === null}
              canEdit={canEdit}
              form={form}
              onOpen={setOpened}
            />
          ))}
          {version && <LinkedRecords table={table} record={version.record} />}
        </div>
        {canEdit && <Footer table={table} form={form} isNew={pk === null} />}
      </form>
      {opened && <RecordPanel {...opened} onClose={() => setOpened(null)} onSaved={() => {}} />}
      <LeaveDialog guard={guard} hint={texts.discardHint(name)} />
      {form.theirs && (
        <ConflictDialog
          table={table}
          name={name}
          mine={{ ...form.theirs.record, ...form.values }}
          theirs={form.theirs.record}
          onKeepMine={form.keepMine}
          onTakeTheirs={form.takeTheirs}
          onLater={form.decideLater}
        />
      )}
    </PanelFrame>
  )
}
