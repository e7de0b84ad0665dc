import fc from 'fast-check'
import { command, pick, type Read } from '../harness.ts'
import { createIndex, deleteIndex, listIndexes } from '../indexes.ts'
import { findStored, tableOf } from '../model.ts'
import { changeCase, rarely, selector } from './arbitraries.ts'
import { idOf } from './tables.ts'

/** With `isUnique`, which the harness removes from fields. */
const readIndexes: Read = ({ text }) => JSON.parse(text).data

const tableWithId = fc.record({ by: selector, at: selector })

const list = command(2, tableWithId, ({ model, asAdmin }, { by, at }) => {
  const id = idOf(model, at)
  return asAdmin(
    by,
    { method: 'GET', url: `/admin/tables/${id}/indexes` },
    () => listIndexes(model, tableOf(model, id)),
    readIndexes
  )
})

const create = command(
  5,
  fc.record({
    by: selector,
    at: selector,
    fields: fc.oneof(
      selector.map((at) => [at]),
      fc.array(selector, { minLength: 1, maxLength: 3 })
    ),
    isUnique: fc.option(fc.boolean(), { freq: 3, nil: undefined }),
    isUnknown: rarely
  }),
  ({ model, asAdmin }, { by, at, fields, isUnique, isUnknown }) => {
    const id = idOf(model, at)
    const known = model.registered.find((table) => table.id === id)?.fields ?? []
    const names = fields.map((fieldAt) => pick(known, fieldAt)?.name ?? 'nothing')
    const payload = {
      fields: isUnknown ? [...names, 'nothing'] : names,
      ...(isUnique !== undefined && { isUnique })
    }
    return asAdmin(
      by,
      { method: 'POST', url: `/admin/tables/${id}/indexes`, payload },
      (_, returned) => createIndex(model, tableOf(model, id), payload, String(returned?.name)),
      readIndexes
    )
  }
)

const remove = command(
  2,
  fc.record({ by: selector, at: selector, index: selector, casing: selector }),
  ({ model, asAdmin }, { by, at, index, casing }) => {
    const id = idOf(model, at)
    const table = model.registered.find((candidate) => candidate.id === id)
    const known = (table && findStored(model, table.name)?.indexes) ?? []
    const name = changeCase(pick(known, index)?.name ?? 'nothing', casing)
    return asAdmin(by, { method: 'DELETE', url: `/admin/tables/${id}/indexes/${name}` }, () =>
      deleteIndex(model, tableOf(model, id), name)
    )
  }
)

export const indexCommands = { listIndexes: list, createIndex: create, deleteIndex: remove }
