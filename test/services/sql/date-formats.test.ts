import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { dateFormats } from '../../../services/sql/date-formats.ts'

const formatOf = (check: string) => dateFormats(`CREATE TABLE t (d TEXT, other TEXT, CHECK (${check}))`).get('d')

const DATE_TIME = "strftime('%Y-%m-%dT%H:%M:%SZ', d)"

t.test('a CHECK that accepts only dates is read', async (t) => {
  for (const check of [
    "d IS date(d) AND d >= '1900-01-01'",
    `"D" is DATE("d") AND [d] > '0001-01-01'`,
    "date(d) IS d AND (d BETWEEN '1900-01-01' AND '2999-12-31')",
    "strftime('%Y-%m-%d', d) IS d AND d >= '1900-01-01'"
  ])
    t.equal(formatOf(check), 'date', check)
  for (const format of ['%Y-%m-%dT%H:%M:%SZ', '%Y-%m-%dT%H:%M:%fZ'])
    t.equal(formatOf(`d IS strftime('${format}', d) AND d >= '1900-01-01'`), 'date-time', format)
  const columns = "d DATE CHECK (d IS date(d)) CHECK (d >= '1900-01-01'), e DATE CHECK (e IS date(e))"
  t.strictSame([...dateFormats(`CREATE TABLE t (${columns})`)], [['d', 'date']])
})

t.test('a CHECK that may accept another value is not read', async (t) => {
  for (const check of [
    'd IS date(d)',
    "d = date(d) AND d >= '1900-01-01'",
    "d IS NOT date(d) AND d >= '1900-01-01'",
    "d IS date(other) AND d >= '1900-01-01'",
    "d IS date(d) AND other >= '1900-01-01'",
    "d IS date(d) AND d >= '0000-01-01'",
    "d IS date(d) AND d >= '1900'",
    'd IS date(d) AND d >= 1900',
    "d IS date(d) AND d <= '1900-01-01'",
    "d IS date(d) AND d >= '1900-01-01' || other",
    "d IS date(d) AND d NOT BETWEEN '1900-01-01' AND '2000-01-01'",
    "d IS date(d, 'utc') AND d >= '1900-01-01'",
    "d IS datetime(d) AND d >= '1900-01-01'",
    "d IS strftime('%Y', d) AND d >= '1900-01-01'",
    "d IS strftime(other, d) AND d >= '1900-01-01'",
    "5 IS date(5) AND d >= '1900-01-01'",
    "5 >= '1900-01-01' AND d IS date(d)",
    "d IS other AND d >= '1900-01-01'",
    "d IS date(d) OR d >= '1900-01-01'"
  ])
    t.equal(formatOf(check), undefined, check)
  const collated = "CREATE TABLE t (d TEXT COLLATE NOCASE CHECK (d IS date(d) AND d >= '1900-01-01'))"
  t.equal(dateFormats(collated).size, 0)
})

t.test('SQLite refuses every other value for a column with a format', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  const declaration = `CREATE TABLE t (d DATE CHECK (d IS date(d) AND d >= '0001-01-01'),
    m TEXT CHECK (m IS ${DATE_TIME.replaceAll('d)', 'm)')} AND m >= '0001-01-01'))`
  t.strictSame(
    [...dateFormats(declaration)],
    [
      ['d', 'date'],
      ['m', 'date-time']
    ]
  )
  db.exec(declaration)
  const accepts = (column: string, value: unknown) => {
    try {
      db.prepare(`INSERT INTO t (${column}) VALUES (?)`).run(value)
      return true
    } catch {
      return false
    }
  }
  for (const value of ['2026-01-31', '0001-01-01', '9999-12-31', null]) t.ok(accepts('d', value), String(value))
  for (const value of [
    'text',
    '',
    '2026-02-30',
    '2026-1-31',
    '-0044-03-15',
    '0000-01-01',
    ' 2026-01-31',
    2460000.5,
    20260131
  ])
    t.notOk(accepts('d', value), String(value))
  t.notOk(accepts('d', Buffer.from('2026-01-31')))
  for (const value of ['2026-01-31T23:59:59Z', null]) t.ok(accepts('m', value), String(value))
  for (const value of [
    '2026-01-31T24:00:00Z',
    '2026-01-31 09:30:00',
    '2026-01-31T09:30:00',
    '2026-01-31T09:30:00+01:00'
  ])
    t.notOk(accepts('m', value), value)
})
