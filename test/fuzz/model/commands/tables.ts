import fc from 'fast-check'
import type { NewField, NewTable, TableChanges } from '../../../../schemas/table.ts'
import { allow, assertGrants, assertMay, type Model, tableOf } from '../model.ts'
import {
  addField,
  checkTokensFields,
  createTable,
  importTable,
  refreshTable,
  toTable,
  unregisterTable,
  updateTable
} from '../tables.ts'
import { toStored } from '../values.ts'
import { command, idIn, pick } from '../world.ts'
import { fieldName, jsonTypes, rarely, respell, tableName, text, value, which } from './choices.ts'

const MISSING = 999_999

const flag = fc.option(fc.boolean(), { freq: 2, nil: undefined })

interface DrawnField {
  readonly name: string
  readonly jsonType: NewField['jsonType']
  readonly values: readonly unknown[]
  readonly flags: Record<'nullable' | 'isHidden' | 'isReadonly', boolean | undefined>
  readonly label: string | undefined
  readonly isOdd: boolean
}

const drawnField = fc.record<DrawnField>({
  name: fieldName,
  jsonType: jsonTypes,
  values: fc.array(value, { maxLength: 4 }),
  flags: fc.record({ nullable: flag, isHidden: flag, isReadonly: flag }),
  label: fc.option(text, { nil: undefined }),
  isOdd: rarely
})

const sent = <T extends object>(properties: T) =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Partial<T>

/** The first value that fits the type is the default; an odd field takes any. */
const defaultOf = ({ jsonType, values, isOdd }: DrawnField) =>
  isOdd ? values[0] : values.find((candidate) => candidate !== null && toStored(jsonType, candidate) !== undefined)

const toNewField = (drawn: DrawnField, byToken: boolean): NewField => {
  const { name, jsonType, flags, label, isOdd } = drawn
  const { nullable, ...visibility } = flags
  const defaultValue = defaultOf(drawn)
  const properties = { label, nullable, defaultValue, ...(byToken && !isOdd ? {} : visibility) }
  return { name, jsonType, ...sent(properties) } as NewField
}

/** A key takes no default and is not hidden: those rules have tests of their own. */
const toKey = ({ name, jsonType, label }: NewField, isAutoIncrement: boolean): NewField => ({
  name,
  jsonType,
  isPrimary: true,
  ...(label !== undefined && { label }),
  ...(isAutoIncrement && { isAutoIncrement })
})

const withoutTwins = (fields: readonly DrawnField[]) =>
  fields.filter(({ name, isOdd }, index) => isOdd || fields.findIndex((field) => field.name === name) === index)

const declaration = fc.record({
  name: fc.oneof({ weight: 12, arbitrary: tableName }, { weight: 1, arbitrary: fc.constant('sqlite_x') }),
  label: text,
  fields: fc.array(drawnField, { minLength: 1, maxLength: 5 }),
  key: fc.option(fc.record({ at: which, isAutoIncrement: fc.boolean() })),
  note: fc.option(text, { nil: undefined }),
  autoTimestamps: fc.option(fc.boolean(), { nil: undefined })
})
type Declaration = typeof declaration extends fc.Arbitrary<infer T> ? T : never

const toNewTable = ({ fields, key, name, label, ...rest }: Declaration, byToken: boolean): NewTable => {
  const declared = withoutTwins(fields).map((field) => toNewField(field, byToken))
  if (key) {
    const at = key.at % declared.length
    declared[at] = toKey(declared[at] as NewField, key.isAutoIncrement && declared[at]?.jsonType === 'integer')
  }
  return { name, label, fields: declared, ...sent(rest) } as NewTable
}

const create = command(5, fc.record({ by: which, declaration }), ({ model, asAdmin }, { by, declaration }) => {
  const payload = toNewTable(declaration, false)
  return asAdmin(by, { method: 'POST', url: '/admin/tables', payload }, (_, learned) =>
    createTable(model, payload, idIn(learned), 'administrator')
  )
})

const createByToken = command(2, fc.record({ by: which, declaration }), ({ model, asToken }, { by, declaration }) => {
  const payload = toNewTable(declaration, true)
  const call = { method: 'POST', url: '/data/_schema/tables', payload } as const
  return asToken([by, 'schema', payload.name], call, (token, learned) => {
    assertGrants(token, 'schema')
    checkTokensFields(payload.fields)
    assertMay(token, 'schema', payload.name)
    return createTable(model, payload, idIn(learned), 'token')
  })
})

const importOne = command(
  3,
  fc.record({ by: which, at: which, name: fc.option(tableName), spelling: which }),
  ({ model, asAdmin }, { by, at, name, spelling }) => {
    const known = [...model.stored.map((table) => table.name), '_rowhouse_admins']
    const payload = { name: respell(name ?? String(pick(known, at)), spelling) }
    return asAdmin(by, { method: 'POST', url: '/admin/tables/import', payload }, (_, learned) =>
      importTable(model, payload.name, idIn(learned))
    )
  }
)

/** The id of a registered table, or seldom one that there is not. */
export const idOf = (model: Model, at: number) =>
  at % 30 === 29 ? MISSING : (pick(model.registered, at)?.id ?? MISSING)

const update = command(
  4,
  fc.record({
    by: which,
    at: which,
    metadata: fc.record({
      label: fc.option(text, { freq: 2, nil: undefined }),
      note: fc.option(fc.option(text), { freq: 2, nil: undefined }),
      isPublished: fc.option(fc.oneof(fc.boolean(), fc.constant(true)), { freq: 2, nil: undefined }),
      isEditable: fc.option(fc.oneof(fc.boolean(), fc.constant(true)), { freq: 2, nil: undefined })
    }),
    fields: fc.array(
      fc.record({ at: which, isHidden: flag, isReadonly: flag, label: fc.option(text, { nil: undefined }) }),
      {
        maxLength: 2
      }
    )
  }),
  ({ model, asAdmin }, { by, at, metadata, fields }) => {
    const id = idOf(model, at)
    const known = model.registered.find((table) => table.id === id)?.fields ?? []
    const changes = fields.map(({ at, ...change }) => ({ name: pick(known, at)?.name ?? 'nothing', ...sent(change) }))
    const payload = { ...sent(metadata), ...(changes.length > 0 && { fields: changes }) } as TableChanges
    return asAdmin(by, { method: 'PUT', url: `/admin/tables/${id}`, payload }, () => updateTable(model, id, payload))
  }
)

const refresh = command(2, fc.record({ by: which, at: which }), ({ model, asAdmin }, { by, at }) => {
  const id = idOf(model, at)
  return asAdmin(by, { method: 'POST', url: `/admin/tables/${id}/refresh` }, () => refreshTable(model, id))
})

const unregister = command(
  1,
  fc.record({ by: which, at: which, confirm: fc.constantFrom('', '?confirm=false', '?confirm=true', '?confirm=true') }),
  ({ model, asAdmin }, { by, at, confirm }) => {
    const id = idOf(model, at)
    return asAdmin(by, { method: 'DELETE', url: `/admin/tables/${id}${confirm}` }, () =>
      unregisterTable(model, id, confirm === '?confirm=true')
    )
  }
)

const readOne = command(1, fc.record({ by: which, at: which }), ({ model, asAdmin }, { by, at }) => {
  const id = idOf(model, at)
  return asAdmin(by, { method: 'GET', url: `/admin/tables/${id}` }, () => toTable(tableOf(model, id), 'administrator'))
})

export const listTables = command(1, which, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/tables' }, () =>
    model.registered.map((table) => toTable(table, 'administrator'))
  )
)

/** The name of a registered table as a token spells it, or seldom another name. */
export const nameOf = (model: Model, { at, spelling }: { readonly at: number; readonly spelling: number }) => {
  const known = at % 30 === 29 ? undefined : pick(model.registered, at)?.name
  return respell(known ?? 'nothing', spelling)
}

const readSchema = command(
  2,
  fc.record({ by: which, at: which, spelling: which }),
  ({ model, asToken }, { by, ...table }) => {
    const name = nameOf(model, table)
    return asToken([by, 'read', name], { method: 'GET', url: `/data/${name}/schema` }, (token) =>
      toTable(allow(model, token, 'read', name), 'token')
    )
  }
)

const add = command(
  4,
  fc.record({ by: which, at: which, spelling: which, drawn: drawnField }),
  ({ model, asToken }, { by, drawn, ...table }) => {
    const name = nameOf(model, table)
    const field = toNewField(drawn, true)
    const call = { method: 'POST', url: `/data/_schema/tables/${name}/fields`, payload: { field } } as const
    return asToken([by, 'schema', name], call, (token) => {
      assertMay(token, 'schema', name)
      checkTokensFields([field])
      return addField(model, allow(model, token, 'schema', name), field)
    })
  }
)

export const tableCommands = {
  createTable: create,
  createTableByToken: createByToken,
  importTable: importOne,
  updateTable: update,
  refreshTable: refresh,
  unregisterTable: unregister,
  readTable: readOne,
  listTables,
  readTableSchema: readSchema,
  addField: add
}
