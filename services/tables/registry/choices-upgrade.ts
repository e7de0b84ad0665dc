import type { Database } from '../../engine/database.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import { nameFields, type TakenNames, tableCandidates, takenNames, takeTableName } from '../names/client-names.ts'
import { readChoices, VERSION } from './choices.ts'

const SELECT: Statement = { sql: 'SELECT id, name, choices FROM _rowhouse_tables ORDER BY id', params: [] }

/** Both writers of version 1 put the version first. */
const OLD: Statement = {
  sql: `SELECT 1 FROM _rowhouse_tables WHERE choices LIKE '{"version":1,%' LIMIT 1`,
  params: []
}

const update = (row: Row, choices: string): Statement => ({
  sql: 'UPDATE _rowhouse_tables SET choices = ? WHERE id = ? AND choices = ?',
  params: [choices, BigInt(Number(row.id)), String(row.choices)]
})

/** What version 1 stores, as far as the upgrade depends on it. */
interface OldChoices {
  readonly version: number
  readonly fields: readonly { readonly name: string }[]
}

/** Returns the choices with names for clients. @throws if they cannot be read */
const upgraded = async ({ id, name, choices }: Row, taken: TakenNames): Promise<string> => {
  const old = JSON.parse(String(choices)) as OldChoices
  const clientNames = await nameFields(old.fields.map((field) => String(field.name)))
  const fields = old.fields.map((field, index) => ({ ...field, clientName: clientNames[index] }))
  const clientName = takeTableName(await tableCandidates(String(name), Number(id)), taken)
  const text = JSON.stringify({ ...old, version: VERSION, clientName, fields })
  readChoices(text)
  return text
}

const clientNameOf = ({ choices }: Row) => {
  try {
    return [readChoices(String(choices)).clientName]
  } catch {
    return []
  }
}

/**
 * Gives names for clients to the tables of version 1, in the order of their ids, and stores them: from then on they are
 * stable. To be called at start, before the registry is loaded. Choices that cannot be read stay as they are.
 */
export const upgradeChoices = async (db: Database): Promise<void> => {
  if ((await db.read(OLD)).length === 0) return
  const rows = await db.read(SELECT)
  const taken = takenNames(rows.flatMap(clientNameOf))
  const unit: Statement[] = []
  for (const row of rows) {
    if (!String(row.choices).startsWith('{"version":1,')) continue
    const text = await upgraded(row, taken).catch(() => undefined)
    if (text !== undefined) unit.push(update(row, text))
  }
  await db.write(unit)
}
