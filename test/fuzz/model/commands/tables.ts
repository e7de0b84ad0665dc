import fc from 'fast-check'
import type { NewField, NewTable } from '../../../../schemas/new-table.ts'
import type { TableChanges } from '../../../../schemas/table-changes.ts'
import { command, idIn, pick } from '../harness.ts'
import { allow, assertGrants, assertMay, isAwaited, type Model, tableOf } from '../model.ts'
import {
  addField,
  checkTokenFields,
  createTable,
  importTables,
  listImportable,
  refreshTable,
  toTable,
  unregisterTable,
  updateTable
} from '../tables.ts'
import { toStored } from '../values.ts'
import { changeCase, fieldName, jsonTypes, rarely, selector, tableName, text, value } from './arbitraries.ts'

const MISSING = 999_999

const flag = fc.option(fc.boolean(), { freq: 2, nil: undefined })

interface FieldInput {
  readonly name: string
  readonly jsonType: NewField['jsonType']
  readonly values: readonly unknown[]
  readonly flags: Record<'nullable' | 'isHidden' | 'isReadonly', boolean | undefined>
  readonly label: string | undefined
  readonly isUnchecked: boolean
}

const fieldInput = fc.record<FieldInput>({
  name: fieldName,
  jsonType: jsonTypes,
  values: fc.array(value, { maxLength: 4 }),
  flags: fc.record({ nullable: flag, isHidden: flag, isReadonly: flag }),
  label: fc.option(text, { nil: undefined }),
  isUnchecked: rarely
})

/** Removes the properties that are undefined. */
const defined = <T extends object>(properties: T) =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Partial<T>

/** Returns the first value of the right type, or the first of any type if `isUnchecked`. */
const defaultOf = ({ jsonType, values, isUnchecked }: FieldInput) =>
  isUnchecked
    ? values[0]
    : values.find((candidate) => candidate !== null && toStored(jsonType, candidate) !== undefined)

const toNewField = (input: FieldInput, byToken: boolean): NewField => {
  const { name, jsonType, flags, label, isUnchecked } = input
  const { nullable, ...visibility } = flags
  const defaultValue = defaultOf(input)
  const properties = { label, nullable, defaultValue, ...(byToken && !isUnchecked ? {} : visibility) }
  return { name, jsonType, ...defined(properties) } as NewField
}

/** Without a default and without flags: other tests check that a key may not have them. */
const toKey = ({ name, jsonType, label }: NewField, isAutoIncrement: boolean): NewField => ({
  name,
  jsonType,
  isPrimary: true,
  ...(label !== undefined && { label }),
  ...(isAutoIncrement && { isAutoIncrement })
})

const withoutDuplicates = (fields: readonly FieldInput[]) =>
  fields.filter(
    ({ name, isUnchecked }, index) => isUnchecked || fields.findIndex((field) => field.name === name) === index
  )

const declaration = fc.record({
  name: fc.oneof({ weight: 12, arbitrary: tableName }, { weight: 1, arbitrary: fc.constant('sqlite_x') }),
  label: text,
  fields: fc.array(fieldInput, { minLength: 1, maxLength: 5 }),
  key: fc.option(fc.record({ at: selector, isAutoIncrement: fc.boolean() })),
  note: fc.option(text, { nil: undefined }),
  autoTimestamps: fc.option(fc.boolean(), { nil: undefined })
})
type Declaration = typeof declaration extends fc.Arbitrary<infer T> ? T : never

const toNewTable = ({ fields, key, name, label, ...rest }: Declaration, byToken: boolean): NewTable => {
  const declared = withoutDuplicates(fields).map((field) => toNewField(field, byToken))
  if (key) {
    const at = key.at % declared.length
    declared[at] = toKey(declared[at] as NewField, key.isAutoIncrement && declared[at]?.jsonType === 'integer')
  }
  return { name, label, fields: declared, ...defined(rest) } as NewTable
}

const isSimple = ({ name, isUnchecked }: FieldInput) => !isUnchecked && !['id', 'updated_at', 'sqlite_x'].includes(name)

/** The input of a table that the service accepts, with an automatic key. */
export const validTable = fc.record({
  by: fc.constant(0),
  declaration: declaration
    .filter(({ name, fields }) => name !== 'sqlite_x' && fields.some(isSimple))
    .map((valid): Declaration => ({ ...valid, fields: valid.fields.filter(isSimple), key: null }))
})

const create = command(5, fc.record({ by: selector, declaration }), async ({ model, asAdmin }, { by, declaration }) => {
  const payload = toNewTable(declaration, false)
  if (isAwaited(model, payload.name)) return
  await asAdmin(by, { method: 'POST', url: '/admin/tables', payload }, (_, returned) =>
    createTable(model, payload, idIn(returned), 'administrator')
  )
})

const createByToken = command(
  2,
  fc.record({ by: selector, declaration }),
  async ({ model, asToken }, { by, declaration }) => {
    const payload = toNewTable(declaration, true)
    if (isAwaited(model, payload.name)) return
    const call = { method: 'POST', url: '/data/_schema/tables', payload } as const
    await asToken([by, 'schema', payload.name], call, (token, returned) => {
      assertGrants(token, 'schema')
      checkTokenFields(payload.fields)
      assertMay(token, 'schema', payload.name)
      return createTable(model, payload, idIn(returned), 'token')
    })
  }
)

const metadata = fc.record({
  label: fc.option(text, { freq: 2, nil: undefined }),
  note: fc.option(fc.option(text), { freq: 2, nil: undefined }),
  isPublished: fc.option(fc.oneof(fc.boolean(), fc.constant(true)), { freq: 2, nil: undefined }),
  isEditable: fc.option(fc.oneof(fc.boolean(), fc.constant(true)), { freq: 2, nil: undefined })
})

const fieldFlags = { isHidden: flag, isReadonly: flag, label: fc.option(text, { nil: undefined }) }

const importChoices = fc.record({
  metadata: fc.option(metadata, { nil: {} }),
  field: fc.option(fc.record({ name: fc.constantFrom('t', 'v', 'line', 'id'), ...fieldFlags }), { freq: 1 })
})

const toChoices = ({ metadata, field }: typeof importChoices extends fc.Arbitrary<infer T> ? T : never) =>
  ({ ...defined(metadata), ...(field && { fields: [defined(field)] }) }) as TableChanges

const importOne = command(
  3,
  fc.record({ by: selector, at: selector, name: fc.option(tableName), casing: selector, choices: importChoices }),
  ({ model, asAdmin }, { by, at, name, casing, choices }) => {
    const known = [...[...model.stored, ...model.views].map((stored) => stored.name), '_rowhouse_admins']
    const payload = { name: changeCase(name ?? String(pick(known, at)), casing), ...toChoices(choices) }
    return asAdmin(by, { method: 'POST', url: '/admin/tables/import', payload }, (_, returned) =>
      importTables(model, payload, [idIn(returned)])
    )
  }
)

const idsIn = (returned: unknown) => (Array.isArray(returned) ? returned.map(idIn) : [])

const importSeveral = command(
  1,
  fc.record({
    by: selector,
    names: fc.oneof(fc.constant<string[]>(['*']), fc.array<string>(tableName, { minLength: 1, maxLength: 3 })),
    choices: importChoices
  }),
  ({ model, asAdmin }, { by, names, choices }) => {
    const payload = { names, ...toChoices(choices) }
    return asAdmin(by, { method: 'POST', url: '/admin/tables/import', payload }, (_, returned) =>
      importTables(model, payload, idsIn(returned))
    )
  }
)

const listUnregistered = command(1, selector, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/tables/importable' }, () => listImportable(model))
)

/** Returns the id of a registered table, or an unknown one in one of 30 cases. */
export const idOf = (model: Model, at: number) =>
  at % 30 === 29 ? MISSING : (pick(model.registered, at)?.id ?? MISSING)

const update = command(
  4,
  fc.record({
    by: selector,
    at: selector,
    metadata,
    fields: fc.array(fc.record({ at: selector, ...fieldFlags }), { maxLength: 2 })
  }),
  ({ model, asAdmin }, { by, at, metadata, fields }) => {
    const id = idOf(model, at)
    const known = model.registered.find((table) => table.id === id)?.fields ?? []
    const changes = fields.map(({ at, ...change }) => ({
      name: pick(known, at)?.name ?? 'nothing',
      ...defined(change)
    }))
    const payload = { ...defined(metadata), ...(changes.length > 0 && { fields: changes }) } as TableChanges
    return asAdmin(by, { method: 'PUT', url: `/admin/tables/${id}`, payload }, () => updateTable(model, id, payload))
  }
)

const setSearchIndex = command(
  4,
  fc.record({ by: selector, at: selector, isOn: fc.integer({ min: 0, max: 3 }).map((n) => n > 0) }),
  ({ model, asAdmin }, { by, at, isOn }) => {
    const id = idOf(model, at)
    const payload = { searchIndex: isOn }
    return asAdmin(by, { method: 'PUT', url: `/admin/tables/${id}`, payload }, () => updateTable(model, id, payload))
  }
)

const refresh = command(2, fc.record({ by: selector, at: selector }), ({ model, asAdmin }, { by, at }) => {
  const id = idOf(model, at)
  return asAdmin(by, { method: 'POST', url: `/admin/tables/${id}/refresh` }, () => refreshTable(model, id))
})

const unregister = command(
  1,
  fc.record({
    by: selector,
    at: selector,
    confirm: fc.constantFrom('', '?confirm=false', '?confirm=true', '?confirm=true')
  }),
  ({ model, asAdmin }, { by, at, confirm }) => {
    const id = idOf(model, at)
    return asAdmin(by, { method: 'DELETE', url: `/admin/tables/${id}${confirm}` }, () =>
      unregisterTable(model, id, confirm === '?confirm=true')
    )
  }
)

const readOne = command(1, fc.record({ by: selector, at: selector }), ({ model, asAdmin }, { by, at }) => {
  const id = idOf(model, at)
  return asAdmin(by, { method: 'GET', url: `/admin/tables/${id}` }, () => toTable(tableOf(model, id), 'administrator'))
})

export const listTables = command(1, selector, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/tables' }, () =>
    model.registered.map((table) => toTable(table, 'administrator'))
  )
)

/** Returns the name of a registered table in any case, or an unknown name in one of 30 cases. */
export const nameOf = (model: Model, { at, casing }: { readonly at: number; readonly casing: number }) => {
  const known = at % 30 === 29 ? undefined : pick(model.registered, at)?.name
  return changeCase(known ?? 'nothing', casing)
}

const readSchema = command(
  2,
  fc.record({ by: selector, at: selector, casing: selector }),
  ({ model, asToken }, { by, ...table }) => {
    const name = nameOf(model, table)
    return asToken([by, 'read', name], { method: 'GET', url: `/data/${name}/schema` }, (token) =>
      toTable(allow(model, token, 'read', name), 'token')
    )
  }
)

const add = command(
  4,
  fc.record({ by: selector, at: selector, casing: selector, input: fieldInput }),
  ({ model, asToken }, { by, input, ...table }) => {
    const name = nameOf(model, table)
    const field = toNewField(input, true)
    const call = { method: 'POST', url: `/data/_schema/tables/${name}/fields`, payload: { field } } as const
    return asToken([by, 'schema', name], call, (token) => {
      assertMay(token, 'schema', name)
      checkTokenFields([field])
      return addField(model, allow(model, token, 'schema', name), field, 'token')
    })
  }
)

const addByAdmin = command(
  3,
  fc.record({ by: selector, at: selector, input: fieldInput }),
  ({ model, asAdmin }, { by, at, input }) => {
    const id = idOf(model, at)
    const field = toNewField(input, false)
    return asAdmin(by, { method: 'POST', url: `/admin/tables/${id}/fields`, payload: { field } }, () =>
      addField(model, tableOf(model, id), field, 'administrator')
    )
  }
)

export const tableCommands = {
  createTable: create,
  createTableByToken: createByToken,
  importTable: importOne,
  importTables: importSeveral,
  listImportable: listUnregistered,
  updateTable: update,
  setSearchIndex,
  refreshTable: refresh,
  unregisterTable: unregister,
  readTable: readOne,
  listTables,
  readTableSchema: readSchema,
  addField: add,
  addFieldByAdmin: addByAdmin
}
