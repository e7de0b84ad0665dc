import type { Call } from '../snippets/call.ts'
import type { Table, TableField } from '../tables/queries.ts'
import type { texts } from '../texts/api-page.ts'
import { changedValues, newValues } from './example-values.ts'
import { type Key, keyOf, type StoredRecord } from './key.ts'

export type Group = keyof typeof texts.groups
type CallName = keyof typeof texts.calls

export interface TableCall extends Call {
  readonly name: CallName
  readonly group: Group
  /** true: it changes records. */
  readonly isWrite?: boolean
  /** What “Try it” begins with instead: the key is left out, so that no stored record is changed by mistake. */
  readonly start?: Pick<Call, 'path' | 'body'>
}

const json = (value: unknown) => ({ type: 'json', value }) as const

const isNumeric = ({ jsonType, isHidden }: TableField) => !isHidden && (jsonType === 'integer' || jsonType === 'number')
const isCounter = (field: TableField) =>
  isNumeric(field) && !field.isPrimary && !field.isReadonly && field.references === undefined

const readCalls = (table: Table, path: string, key: Key | null): TableCall[] => {
  const [field] = table.fields.filter(({ isHidden }) => !isHidden)
  const [number] = table.fields.filter(isNumeric)
  const filter = field && { where: { [field.name]: { isNull: false } } }
  return [
    { name: 'list', group: 'read', method: 'GET', path: `${path}?page=1&size=20` },
    ...(key ? [{ name: 'read', group: 'read', method: 'GET', path: `${path}/records/${key.path}` } as const] : []),
    { name: 'query', group: 'read', method: 'POST', path: `${path}/query`, body: json({ filter, size: 20 }) },
    {
      name: 'aggregate',
      group: 'read',
      method: 'POST',
      path: `${path}/aggregate`,
      body: json({ compute: { records: { count: true }, ...(number && { maximum: { max: number.name } }) } })
    },
    { name: 'schema', group: 'read', method: 'GET', path: `${path}/schema` }
  ]
}

const recordCalls = (table: Table, path: string, { path: pk, body }: Key): TableCall[] => {
  const record = `${path}/records/${pk}`
  const withoutKey = `${path}/records/`
  const counter = table.fields.find(isCounter)
  const changes = changedValues(table)
  const update = {
    name: 'update',
    group: 'write',
    method: 'PUT',
    path: record,
    body: json(changes),
    isWrite: true,
    start: { path: withoutKey, body: json(changes) }
  } as const
  const incrementPath = `${path}/incr?return=record`
  const incrementOf = (key: string) => json({ pk: key, field: counter?.name, count: 1 })
  return [
    ...(Object.keys(changes).length > 0 ? [update] : []),
    { name: 'delete', group: 'write', method: 'DELETE', path: record, isWrite: true, start: { path: withoutKey } },
    ...(counter
      ? [
          {
            name: 'increment',
            group: 'write',
            method: 'POST',
            path: incrementPath,
            body: incrementOf(body),
            isWrite: true,
            start: { path: incrementPath, body: incrementOf('') }
          } as const
        ]
      : [])
  ]
}

const csvCell = (value: unknown) => {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `"${text.replaceAll('"', '""')}"`
}

const csvOf = (values: StoredRecord) =>
  [Object.keys(values), Object.values(values)].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('')

const writeCalls = (table: Table, path: string, key: Key | null): TableCall[] => {
  if (table.kind === 'view') return []
  const values = newValues(table)
  const operations = [{ op: 'create', table: table.name, values }]
  return [
    { name: 'create', group: 'write', method: 'POST', path: `${path}/records`, body: json(values), isWrite: true },
    ...(key ? recordCalls(table, path, key) : []),
    {
      name: 'import',
      group: 'files',
      method: 'POST',
      path: `${path}/import?dryRun=true`,
      body: { type: 'csv', text: csvOf(values) },
      isWrite: true
    },
    { name: 'batch', group: 'several', method: 'POST', path: '/data/_batch', body: json({ operations }), isWrite: true }
  ]
}

/** Returns the calls of a table, with its names and the key of one of its records. */
export const callsOf = (table: Table, record: StoredRecord | undefined): readonly TableCall[] => {
  const path = `/data/${encodeURIComponent(table.name)}`
  const key = keyOf(table, record)
  return [
    ...readCalls(table, path, key),
    ...writeCalls(table, path, key),
    { name: 'export', group: 'files', method: 'GET', path: `${path}/export`, isFile: true }
  ]
}
