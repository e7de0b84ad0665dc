import fc from 'fast-check'
import { command, idIn, pick } from '../harness.ts'
import { findRegistered, findStored, isAwaited, isStored, type Model, remove } from '../model.ts'
import { identifiesRows, importTables } from '../tables.ts'
import { type StoredView, viewOn } from '../views.ts'
import { changeCase, selector, tableNames } from './arbitraries.ts'
import { afterDrop, afterExternalCommit } from './external-events.ts'

const isFree = (model: Model) => (name: string) =>
  !isStored(model, name) && !findRegistered(model, name) && !isAwaited(model, name)

const create = command(
  3,
  fc.record({ name: selector, at: selector, condition: selector }),
  async (harness, { name: nameAt, at, condition }) => {
    const { model, service } = harness
    const base = pick(model.stored, at)
    const name = pick(tableNames.filter(isFree(model)), nameAt)
    if (!base || !name) return
    const { sql, view } = viewOn(base, name, condition)
    service.runExternally(sql)
    model.views.push(view)
    await afterExternalCommit(harness)
  }
)

/** Nothing keeps the key of a view unique. A key that is not that of the table is sent only if the import refuses it. */
const keyOf = (model: Model, { name, base }: StoredView, n: number): readonly string[] => {
  if (n % 8 === 0) return [...base.key, pick([...base.key, 'nothing'], n >> 3) ?? 'nothing']
  const stored = findStored(model, name)
  const key = [pick(base.columns, n >> 3)?.name ?? 'nothing']
  return n % 8 < 3 && stored && !identifiesRows(stored, key) ? key : base.key
}

const importView = command(
  6,
  fc.record({ by: selector, at: selector, casing: selector, key: fc.option(selector, { freq: 2 }) }),
  async ({ model, asAdmin }, { by, at, casing, key }) => {
    const view = pick(
      model.views.filter(({ name }) => !findRegistered(model, name)),
      at
    )
    if (!view) return
    const primaryKey = key === null ? undefined : [...keyOf(model, view, key)]
    const payload = { name: changeCase(view.name, casing), ...(primaryKey && { primaryKey }) }
    await asAdmin(by, { method: 'POST', url: '/admin/tables/import', payload }, (_, returned) =>
      importTables(model, payload, [idIn(returned)])
    )
  }
)

const drop = command(1, selector, async (harness, at) => {
  const { model, service } = harness
  const view = pick(model.views, at)
  if (!view || at % 3 !== 0) return
  service.runExternally(`DROP VIEW "${view.name}"`)
  remove(model.views, view)
  await afterDrop(harness, [view])
})

export const viewCommands = { createView: create, importView, dropView: drop }
