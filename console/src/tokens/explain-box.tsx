import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import { type Table, tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/token-view.ts'
import { Button } from '../ui/button.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import styles from './explain-box.module.css'
import { ACTIONS, type SingleAction } from './permissions.ts'

type Explanation = components['schemas']['TokenExplanation']
type ExplainedRecord = NonNullable<Explanation['record']>

interface ExplainRequest {
  readonly table: string
  readonly action: SingleAction
  readonly key: string
}

const explain = (id: number, { key, ...request }: ExplainRequest) =>
  dataOf(
    api.POST('/admin/tokens/{id}/explain', {
      params: { path: { id } },
      body: { ...request, ...(key !== '' && { key }) }
    })
  )

const recordText = ({ exists, isVisible }: ExplainedRecord) => {
  if (!exists) return texts.recordMissing
  return isVisible ? texts.recordInside : texts.recordOutside
}

const namesOf = (names: readonly string[]) => (names.length === 0 ? texts.none : names.join(', '))

const Result = ({
  result: { allowed, reason, rows, readable, writable, presets, record }
}: {
  readonly result: Explanation
}) => (
  <dl className={styles.result} data-allowed={allowed} aria-live="polite">
    <dt>{allowed ? texts.yes : texts.no}</dt>
    <dd>
      {reason} {rows}
    </dd>
    {record && (
      <>
        <dt>{texts.record(record.key)}</dt>
        <dd>{recordText(record)}</dd>
      </>
    )}
    <dt>{texts.readable}</dt>
    <dd>{namesOf(readable)}</dd>
    {writable.length > 0 && (
      <>
        <dt>{texts.writable}</dt>
        <dd>{namesOf(writable)}</dd>
      </>
    )}
    {presets.length > 0 && (
      <>
        <dt>{texts.presets}</dt>
        <dd>{presets.map(({ field, value }) => texts.preset(field, value)).join(', ')}</dd>
      </>
    )}
  </dl>
)

const Box = ({ id, tables }: { readonly id: number; readonly tables: readonly [Table, ...Table[]] }) => {
  const [request, setRequest] = useState<ExplainRequest>({ table: tables[0].name, action: 'read', key: '' })
  const explaining = useMutation({ mutationFn: () => explain(id, request) })
  const edit = (changes: Partial<ExplainRequest>) => {
    setRequest((before) => ({ ...before, ...changes }))
    explaining.reset()
  }
  return (
    <Form onSubmit={() => explaining.mutate()}>
      <div className={styles.request}>
        <SelectField label={texts.table} value={request.table} onChange={({ target }) => edit({ table: target.value })}>
          {tables.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <SelectField
          label={texts.action}
          value={request.action}
          onChange={({ target }) => edit({ action: target.value as SingleAction })}
        >
          {ACTIONS.map((action) => (
            <option key={action}>{action}</option>
          ))}
        </SelectField>
        <TextField
          label={texts.key}
          hint={texts.keyHint}
          autoComplete="off"
          value={request.key}
          onChange={({ target }) => edit({ key: target.value })}
        />
      </div>
      <div>
        <Button type="submit" disabled={explaining.isPending}>
          {texts.submit}
        </Button>
      </div>
      {explaining.isError && <Problem error={explaining.error} />}
      {explaining.data && <Result result={explaining.data} />}
    </Form>
  )
}

/** Explains what a token may do with a table. */
export const ExplainBox = ({ id }: { readonly id: number }) => {
  const { data: [first, ...others] = [] } = useQuery(tablesQuery)
  if (!first) return null
  return (
    <section className={styles.box} aria-label={texts.explain}>
      <h2>{texts.explain}</h2>
      <p className={styles.hint}>{texts.explainHint}</p>
      <Box id={id} tables={[first, ...others]} />
    </section>
  )
}
