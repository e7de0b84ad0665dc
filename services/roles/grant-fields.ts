import type { Grant } from '../../schemas/role.ts'
import type { ForeignKey } from '../../schemas/table.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'

interface FieldNames {
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  /** Returns the new name of a field that a grant names. `table`: the one that has the field, or would have it. */
  readonly nameOf: (table: RegisteredTable, field: string) => string
}

const withKeys = (value: object, keyOf: (key: string) => string) =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [keyOf(key), item]))

/** Returns the foreign keys with these fields, which commas separate. */
export const foreignKeysWith = ({ structure }: RegisteredTable, fields: string): readonly ForeignKey[] =>
  structure.foreignKeys.filter((key) => key.fields.map(foldName).join(',') === foldName(fields))

/** Returns the table to which the foreign key with these fields refers. */
const parentOf = (table: RegisteredTable, fields: string, findTable: FieldNames['findTable']) => {
  const [key] = foreignKeysWith(table, fields)
  const parent = key && findTable(key.table)
  return parent?.structure ? parent : undefined
}

/** The form of a rule was checked before it was stored. */
interface Rule {
  readonly where?: object
  readonly via?: Readonly<Record<string, Rule>>
  readonly all?: readonly Rule[]
  readonly any?: readonly Rule[]
  readonly none?: readonly Rule[]
}

const mapVia = (via: Readonly<Record<string, Rule>>, table: RegisteredTable, names: FieldNames) =>
  Object.fromEntries(
    Object.entries(via).map(([fields, rule]) => {
      const parent = parentOf(table, fields, names.findTable)
      const renamed = fields.split(',').map((field) => names.nameOf(table, field))
      return [renamed.join(','), parent ? mapRule(rule, parent, names) : rule]
    })
  )

const mapRule = (rule: Rule, table: RegisteredTable, names: FieldNames): Rule => {
  const { where, via, ...lists } = rule
  const mapped = Object.entries(lists).map(([part, list]) => [part, list.map((item) => mapRule(item, table, names))])
  return {
    ...(where && { where: withKeys(where, (field) => names.nameOf(table, field)) }),
    ...(via && { via: mapVia(via, table, names) }),
    ...Object.fromEntries(mapped)
  }
}

/** Returns the grant with other names of fields, as it applies to this table. */
export const mapFields = (grant: Grant, table: RegisteredTable, names: FieldNames): Grant => {
  const { rows, fields, presets } = grant
  const rename = (field: string) => names.nameOf(table, field)
  return {
    ...grant,
    ...(rows && { rows: { ...mapRule(rows, table, names) } }),
    ...(fields && {
      fields: {
        ...(fields.read && { read: fields.read.map(rename) }),
        ...(fields.write && { write: fields.write.map(rename) })
      }
    }),
    ...(presets && { presets: withKeys(presets, rename) })
  }
}

/** A field that a grant names, in the table that has it, or would have it. */
export interface NamedField {
  readonly table: RegisteredTable
  readonly field: string
}

/** Returns the fields that a grant names, as it applies to this table. */
export const namedFields = (
  grant: Grant,
  table: RegisteredTable,
  findTable: FieldNames['findTable']
): readonly NamedField[] => {
  const named: NamedField[] = []
  const nameOf = (owner: RegisteredTable, field: string) => {
    named.push({ table: owner, field })
    return field
  }
  mapFields(grant, table, { findTable, nameOf })
  return named
}
