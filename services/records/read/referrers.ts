import type { Referrer } from '../../../schemas/referrers.ts'
import type { ForeignKey } from '../../../schemas/table.ts'
import type { Caller } from '../../model/caller.ts'
import { foldName } from '../../model/names.ts'
import type { Registration } from '../../model/table.ts'
import { allOf } from '../../sql/conditions.ts'
import { refersTo } from '../../sql/foreign-keys.ts'
import { countRows } from '../../sql/selections.ts'
import type { Access } from '../access/access.ts'
import { keyParams } from '../access/keys.ts'
import type { ReadableBy } from '../access/readable.ts'
import { confirmUnchanged } from './confirming.ts'
import type { Read } from './read.ts'
import type { Scan } from './scans.ts'

interface ReferrersOptions {
  readonly read: Read
  readonly scan: Scan
  readonly readableBy: ReadableBy
  readonly allTables: () => readonly Registration[]
}

/** A foreign key to a table, with what the caller can read of the table that has it. */
interface ReferringKey {
  readonly access: Access
  readonly key: ForeignKey
}

/** Creates the function that counts the records that refer to a record. */
export const createCountReferrers = ({ read, scan, readableBy, allTables }: ReferrersOptions) => {
  /** Returns the foreign keys to a table that the caller sees, in the order of the names of their tables. */
  const keysTo = (caller: Caller, target: Access): readonly ReferringKey[] => {
    const readable = readableBy(caller)
    const name = foldName(target.table.name)
    const toTarget = ({ table, targetFields }: ForeignKey) =>
      foldName(table) === name && targetFields.every((field) => target.columns.has(field))
    return allTables()
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap((table) => {
        const keys = table.structure ? table.structure.foreignKeys.filter(toTarget) : []
        if (keys.length === 0 || !readable.mayRead(table.name)) return []
        const access = readable.accessTo(table.name)
        if (!access) return []
        const isVisible = ({ fields }: ForeignKey) => fields.every((field) => access.columns.has(field))
        return keys.filter(isVisible).map((key) => ({ access, key }))
      })
  }

  /** Returns the text of the foreign keys and of what the caller can read by them. */
  const describe = (keys: readonly ReferringKey[]) =>
    JSON.stringify(keys.map(({ access: { table, rows }, key }) => [table.id, key, rows?.sql]))

  /**
   * Returns the number of records that refer to a record, for each foreign key that the caller sees.
   * @throws RECORD_NOT_FOUND, SCAN_TIMEOUT, TABLE_CHANGED
   */
  return async (caller: Caller, access: Access, pk: string): Promise<Referrer[]> => {
    await read(caller, access, pk)
    const record = { where: access.statements.match, params: keyParams(access, pk) }
    const referrers: Referrer[] = []
    const keys = keysTo(caller, access)
    const confirmed = confirmUnchanged(caller, describe(keys), () => describe(keysTo(caller, access)))
    for (const { access: referring, key } of keys) {
      const { table, dialect, rows } = referring
      const condition = refersTo(table.name, key, record)
      const filter = rows ? allOf([rows, condition]) : condition
      const [row] = await scan(confirmed, { table, dialect, rows, filter, joins: [] }, countRows)
      const { fields, targetFields } = key
      referrers.push({
        table: table.name,
        fields: [...fields],
        targetFields: [...targetFields],
        count: Number(row?.total)
      })
    }
    return referrers
  }
}
