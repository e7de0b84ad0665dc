import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { texts } from '../texts/import-tables.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Checkbox } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { type Importable, importableQuery } from './import/choices.ts'
import styles from './import/import.module.css'
import { ImportableRow } from './import/importable-row.tsx'
import { type ImportState, useImport } from './import/use-import.ts'
import list from './list.module.css'

interface ListProps {
  readonly tables: readonly Importable[]
  readonly state: ImportState
}

const isFree = ({ progress }: ImportState, { name, isImportable }: Importable) =>
  isImportable && progress.get(name)?.state !== 'done'

const ChooseAll = ({ tables, state }: ListProps) => {
  const free = tables.filter((table) => isFree(state, table)).map(({ name }) => name)
  const chosen = free.filter((name) => state.choiceOf(name).isChosen)
  const isMixed = chosen.length > 0 && chosen.length < free.length
  return (
    <input
      type="checkbox"
      aria-label={texts.chooseAll}
      disabled={free.length === 0 || state.isRunning}
      checked={free.length > 0 && chosen.length === free.length}
      ref={(input) => {
        if (input) input.indeterminate = isMixed
      }}
      onChange={({ target }) => state.change(free, { isChosen: target.checked })}
    />
  )
}

const List = (props: ListProps) => (
  <div className={list.scroll}>
    <table className={list.list}>
      <thead>
        <tr>
          <th className={list.narrow}>
            <ChooseAll {...props} />
          </th>
          <th aria-label={texts.details} />
          <th>{texts.name}</th>
          <th>{texts.kind}</th>
          <th className={list.number}>{texts.rows}</th>
          <th>{texts.hiddenFields}</th>
          <th>{texts.state}</th>
        </tr>
      </thead>
      <tbody>
        {props.tables.map((table) => (
          <ImportableRow key={table.name} table={table} state={props.state} />
        ))}
      </tbody>
    </table>
  </div>
)

const AccessChoices = ({ access, setAccess, isRunning }: ImportState) => (
  <>
    <Checkbox
      label={texts.publish}
      hint={texts.publishHint}
      disabled={isRunning}
      checked={access.isPublished}
      onChange={({ target }) => setAccess({ ...access, isPublished: target.checked })}
    />
    <Checkbox
      label={texts.editable}
      hint={texts.editableHint}
      disabled={isRunning}
      checked={access.isEditable}
      onChange={({ target }) => setAccess({ ...access, isEditable: target.checked })}
    />
  </>
)

const Status = ({ progress, isRunning }: ImportState) => {
  const states = [...progress.values()].map(({ state }) => state)
  const done = states.filter((state) => state === 'done').length
  const failed = states.filter((state) => state === 'failed').length
  return (
    <p role="status" className={styles.status}>
      {states.length > 0 && (isRunning ? texts.running(done + failed, states.length) : texts.finished(done, failed))}
    </p>
  )
}

const ImportForm = ({ tables }: { readonly tables: readonly Importable[] }) => {
  const state = useImport()
  const guard = useFormGuard(state.isDirty)
  const [text, setText] = useState('')
  const shown = tables.filter(({ name }) => name.toLocaleLowerCase().includes(text.toLocaleLowerCase()))
  const chosen = tables.filter((table) => isFree(state, table) && state.choiceOf(table.name).isChosen)
  return (
    <div className={styles.page}>
      <p>{texts.intro}</p>
      <div className={styles.tools}>
        <Input
          isCompact
          type="search"
          aria-label={texts.filter}
          placeholder={texts.filter}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <AccessChoices {...state} />
        <div>
          <Button variant="primary" disabled={chosen.length === 0 || state.isRunning} onClick={() => state.run(chosen)}>
            {texts.importChosen(chosen.length)}
          </Button>
        </div>
      </div>
      <Status {...state} />
      <List tables={shown} state={state} />
      <LeaveDialog guard={guard} />
    </div>
  )
}

const Ways = () => (
  <>
    <LinkButton variant="quiet" href="/tables/new">
      {texts.newTable}
    </LinkButton>
    <LinkButton variant="quiet" href="/tables/from-file">
      {texts.fromFile}
    </LinkButton>
  </>
)

/** Registers tables and views that the database already has. */
export const ImportTablesPage = () => {
  const { data, isError, error, refetch } = useQuery(importableQuery)
  return (
    <Page title={texts.title} actions={<Ways />}>
      {isError && <Problem error={error} onRetry={() => refetch()} />}
      {data?.length === 0 && (
        <Empty title={texts.none}>
          <p>{texts.noneHint}</p>
        </Empty>
      )}
      {data && data.length > 0 && <ImportForm tables={data} />}
    </Page>
  )
}
