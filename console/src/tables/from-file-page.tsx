import { useState } from 'react'
import { fieldErrors, isAtLines } from '../api/errors.ts'
import { texts } from '../texts/from-file.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { FileProblem } from '../ui/file-problem.tsx'
import { Form } from '../ui/form.tsx'
import { LeaveDialog } from '../ui/leave-dialog.tsx'
import { Page } from '../ui/page.tsx'
import { nameProblem, type Problems } from './fields/problems.ts'
import styles from './file/file.module.css'
import { Preview } from './file/preview.tsx'
import { hasContent } from './file/source.ts'
import { Content, SourceFields } from './file/source-fields.tsx'
import { type FileState, useFile } from './file/use-file.ts'

const Progress = ({ part, preview, creation }: FileState) =>
  (preview.isPending || creation.isPending) && (
    <progress className={styles.progress} aria-label={texts.progress} {...(part < 1 && { value: part })} />
  )

const Buttons = (state: FileState) => {
  const { source, preview, creation, create } = state
  const isBusy = preview.isPending || creation.isPending
  return (
    <Actions>
      <Progress {...state} />
      <Button type="submit" variant={preview.data ? 'default' : 'primary'} disabled={isBusy || !hasContent(source)}>
        {texts.preview}
      </Button>
      {preview.data && (
        <Button variant="primary" disabled={isBusy} onClick={create}>
          {texts.create(source.name, preview.data.created)}
        </Button>
      )}
    </Actions>
  )
}

const Ways = () => (
  <>
    <LinkButton variant="quiet" href="/tables/new">
      {texts.newTable}
    </LinkButton>
    <LinkButton variant="quiet" href="/tables/import">
      {texts.importTables}
    </LinkButton>
  </>
)

/** Errors about the lines of a file are not about the fields of the form. */
const problemsOf = (error: unknown, nameText: string | undefined): Problems => {
  const found = isAtLines(error) ? [] : [...fieldErrors(error)]
  return new Map([...found, ...(nameText === undefined ? [] : [['name', nameText] as const])])
}

/** Makes a table from CSV, NDJSON or JSON: a preview first, then the table with its records. */
export const FromFilePage = () => {
  const state = useFile()
  const { source, preview, creation, guard } = state
  const [isSent, setSent] = useState(false)
  const wrongName = nameProblem(source.name)
  const error = creation.error ?? preview.error
  const submit = () => {
    setSent(true)
    if (wrongName === undefined && hasContent(source)) preview.mutate(source)
  }
  return (
    <Page title={texts.title} actions={<Ways />}>
      <div className={styles.page}>
        <Form onSubmit={submit}>
          <Content {...state} />
          <SourceFields {...state} problems={problemsOf(error, isSent || source.name !== '' ? wrongName : undefined)} />
          <Buttons {...state} />
        </Form>
        {error !== null && <FileProblem error={error} />}
        {preview.data && <Preview data={preview.data} />}
        <LeaveDialog guard={guard} />
      </div>
    </Page>
  )
}
