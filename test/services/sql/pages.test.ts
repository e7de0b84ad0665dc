import t from 'tap'
import { createSqliteDialect } from '../../../services/engine/shared/sqlite-dialect.ts'
import type { Column, RegisteredTable } from '../../../services/model/table.ts'
import { exportByKey } from '../../../services/sql/exports.ts'
import { pageByIndex, pageBySeeking } from '../../../services/sql/pages.ts'
import { bindRecord, csvText, jsonText } from '../../../services/sql/record-text.ts'
import { countUpTo } from '../../../services/sql/selections.ts'

const columns = [{ name: 'id', jsonType: 'integer', sqliteType: 'INTEGER', declaredType: 'INTEGER' } as Column]
const structure = { columns, isStrict: false, key: ['id'], isRowidKey: true, rowid: 'id' }
const table = { name: 't', structure } as unknown as RegisteredTable
const dialect = createSqliteDialect()
const shape = { tableName: 't', isStrict: false, columns, dialect, integers: 'auto' as const }
const selection = { table, dialect, order: [{ name: 'id', descending: false }], rows: null, filter: null, joins: [] }

t.test('no LIMIT is a bare parameter: SQLite would plan the statement again at every run', async (t) => {
  const start = { position: null, offset: 0 }
  const page = { selection, record: bindRecord(jsonText(shape), []), start, limit: 20, needsNext: false }
  const statements = {
    'by an index': pageByIndex(page, 1000),
    'by position': pageBySeeking(page, 1000, 100),
    'of a count': countUpTo(table, 1000),
    'of an export': exportByKey(
      selection,
      { record: bindRecord(csvText(shape, false), []), lineEnd: '\r\n' },
      { from: 1n, rows: 100, maxBytes: 1000 }
    )
  }
  for (const [name, { sql }] of Object.entries(statements)) {
    t.match(sql, /LIMIT \? \+ 0/, name)
    t.notMatch(sql, /LIMIT \?(?! \+ 0)/, name)
  }
})
