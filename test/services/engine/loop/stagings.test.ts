import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createStagingFiles } from '../../../../services/engine/loop/staging-files.ts'
import type { StagedCheck, StagingRequest } from '../../../../services/engine/staging/protocol.ts'
import type { Structure } from '../../../../services/model/table.ts'
import { selectImportTarget, toImportTarget } from '../../../../services/sql/imports.ts'
import { describeTable, toStructure } from '../../../../services/sql/introspection.ts'
import { type StagedSelection, selectOrphans, selectTaken } from '../../../../services/sql/staged-checks.ts'
import { toUnit } from '../../../../services/sql/unit-values.ts'
import { databaseFile, prepareFile, rejection, sql, stagingDirectoryOf, startEngine } from '../engine.ts'

const TABLES = `
  CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n INTEGER CHECK (n > 0), parent INTEGER REFERENCES items (id),
    made TEXT DEFAULT 'now', double INTEGER AS (n * 2), UNIQUE (name, n)) STRICT;
  INSERT INTO items (id, name, n) VALUES (1, 'stored', 1);
  CREATE TABLE composite (k TEXT, v, PRIMARY KEY (k)) WITHOUT ROWID;
  CREATE TABLE single (v TEXT);
  CREATE TABLE wide (a, b, c, d, e);
  CREATE UNIQUE INDEX lower_a ON wide (lower(a));
  CREATE TABLE defaulted (v TEXT, u INTEGER UNIQUE DEFAULT 5);
  CREATE TABLE computed (a TEXT CHECK (json_array_length(a) > 0));`

const CSV: StagingRequest['format'] = { type: 'csv', delimiter: ',', unescapesFormulas: false }
const NDJSON: StagingRequest['format'] = { type: 'ndjson', integers: 'auto' }

/** All orders of the items. */
const ordersOf = (items: readonly string[]): readonly (readonly string[])[] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) => ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))

const start = async (t: Test) => {
  const file = databaseFile(t)
  prepareFile(file, TABLES)
  const db = await startEngine(t, file)

  const requestFor = async (table: string, options: Partial<StagingRequest> = {}) => {
    const [described] = await db.read(describeTable(table))
    const structure = toStructure(described ?? {}) as Structure
    const [row] = await db.read(selectImportTarget(table))
    const target = toImportTarget(row, structure)
    const request: StagingRequest = {
      table,
      declarations: target?.declarations ?? [],
      rowid: structure.rowid,
      fields: structure.columns.map((column) => ({
        column,
        mayBeNull: !column.isPrimary && column.nullable,
        refusal: column.name === 'made' ? 'is read-only' : null,
        isComputed: column.isGenerated
      })),
      required: [],
      names: {},
      fallbacks: [],
      format: CSV,
      keepsDigits: false,
      skip: 0,
      hasFixedFields: false,
      ...options
    }
    return { request, structure, target }
  }

  /** Stages a file that arrives in small chunks. */
  const stageAll = async (request: StagingRequest, content: string | Buffer, chunkSize = 7) => {
    const staging = db.stage(request)
    t.teardown(() => staging.close())
    const bytes = Buffer.from(content as string)
    for (let at = 0; at < bytes.length; at += chunkSize) await staging.write(bytes.subarray(at, at + chunkSize))
    return { staging, file: await staging.end() }
  }

  /** Returns the errors of a file: line, column, code. */
  const errorsOf = async (request: StagingRequest, content: string | Buffer) => {
    const { file } = await stageAll(request, content, 1000)
    return file.errors.first.map(({ line, column, code }) => [line, column, code])
  }
  return { db, file, requestFor, stageAll, errorsOf }
}

t.test('a file is staged, checked and stored', async (t) => {
  const { db, requestFor, stageAll } = await start(t)
  const { request, structure, target } = await requestFor('items', { names: { Other: null, Number: 'n' } })
  const text = '\ufeffid,name,Number,parent,double,Other\r\n1,a,1,,9,x\r2,"b ""c""\n",2,1,,\n\n3,c,,9,,\n'
  const { staging, file } = await stageAll({ ...request, fallbacks: [['made', 'then']] }, text)
  t.match(file, { rows: 3, fields: ['id', 'name', 'n', 'parent'], errors: { total: 0, first: [] } })
  const checkOf = (selection: StagedSelection): StagedCheck => ({
    ...selection,
    column: 'id',
    code: 'wrong',
    message: 'Wrong.'
  })
  const [rowidKey] = target?.uniqueKeys ?? []
  const [reference] = structure.foreignKeys
  t.ok(rowidKey && reference)
  if (!rowidKey || !reference) return
  const errors = await staging.check([
    checkOf(selectTaken('items', rowidKey, null)),
    checkOf(selectOrphans(reference, { isToItself: true, position: null })),
    checkOf(selectOrphans(reference, { isToItself: true, position: 'id' }))
  ])
  t.strictSame([errors.total, errors.first.map(({ line }) => line)], [3, [2, 6, 6]])
  t.match(await rejection(staging.check([checkOf({ columns: [], inFile: 'TRUE', stored: sql('nothing') })])), {
    message: /nothing/
  })

  const plan = {
    table: 'items',
    structure,
    rows: null,
    inserted: ['id', 'name', 'n', 'made'],
    updated: ['name', 'n'],
    on: rowidKey,
    otherKeys: [],
    hasConflictTriggers: false,
    setsUpdatedAt: false,
    guard: ''
  }
  await staging.store(plan)
  const { unitOf } = await staging.store(plan)
  const first = await staging.step({ after: null, rows: 2, maxBytes: null })
  t.strictSame(first, { last: 2n, rows: 2 })
  const progress = { ...sql('SELECT 1'), expect: 1 }
  const { unit: firstUnit } = await unitOf({ after: null, ...first, now: 0 }, progress)
  t.match(await db.write(toUnit(firstUnit)), [{ changes: 1 }, { changes: 1 }])
  const second = await staging.step({ after: first.last, rows: 2, maxBytes: null })
  const { unit: secondUnit } = await unitOf({ after: first.last, ...second, now: 0 }, progress)
  t.match(await db.write(toUnit(secondUnit)), [{ changes: 0 }, { changes: 1 }])
  t.match(await db.read(sql('SELECT id, name, n, made FROM items')), [
    { id: 1, name: 'a', n: 1, made: 'now' },
    { id: 2, name: 'b "c"\n', n: 2, made: 'then' },
    { id: 3, name: 'c', n: null, made: 'then' }
  ])
})

t.test('a staging file that cannot be attached is an error', async (t) => {
  const { requestFor, stageAll } = await start(t)
  const { request, structure } = await requestFor('items')
  const plan = { table: 'items', structure, rows: null, inserted: ['name'], updated: [], on: null, otherKeys: [] }
  const store = async () => {
    const { staging } = await stageAll({ ...request, format: NDJSON }, '{"name":"a"}', 100)
    return staging.store({ ...plan, hasConflictTriggers: false, setsUpdatedAt: false, guard: '' })
  }
  // SQLite attaches ten.
  for (let attached = 0; attached < 10; attached += 1) await store()
  t.match(await rejection(store()), { message: /too many attached databases/ })
})

t.test('the errors of a CSV file have their lines', async (t) => {
  const { requestFor, errorsOf } = await start(t)
  const { request } = await requestFor('items')
  t.strictSame(await errorsOf({ ...request, required: ['name'] }, 'n,n,made,what\n1\n'), [
    [1, 'n', 'duplicate'],
    [1, 'made', 'unknown'],
    [1, 'what', 'unknown'],
    [1, 'name', 'required']
  ])
  const text = 'id,name,n\n,a,1\n2,b,0\n3,c,x\n4,d\n5,,1\n6,f,7\n7,f,7\n6,g,8\n'
  t.strictSame(await errorsOf(request, text), [
    [2, 'id', 'required'],
    [3, 'n', 'check'],
    [4, 'n', 'type'],
    [5, null, 'cells'],
    [6, 'name', 'required'],
    [8, 'name', 'unique'],
    [9, 'id', 'unique']
  ])
  t.strictSame(await errorsOf(request, 'name\n"a\0"\n'), [[2, 'name', 'format']])
  for (const wrong of ['a"b', '"a"b', '"a', '\u0001'])
    t.strictSame(await errorsOf(request, `name\nok\n${wrong}`), [[3, null, 'syntax']])
  t.strictSame(await errorsOf(request, Buffer.from('name\nok\nä\n', 'latin1')), [[3, null, 'encoding']])
  t.strictSame(await errorsOf(request, `name\n"${'x'.repeat(9 * 2 ** 20)}`), [[2, null, 'syntax']])
  const { request: composite } = await requestFor('composite')
  t.strictSame(await errorsOf(composite, `k\n${'x'.repeat(9000)}\n`), [[2, 'k', 'length']])
  const { request: computed } = await requestFor('computed')
  t.strictSame(await errorsOf(computed, 'a\n[1]\n?\n'), [[3, null, 'constraint']])
  const { request: defaulted } = await requestFor('defaulted')
  t.strictSame(await errorsOf(defaulted, 'v\na\nb\n'), [[3, 'u', 'unique']], 'the field is not in the file')
  const declarations = ['CREATE TABLE items (id INTEGER PRIMARY KEY, name INTEGER) STRICT']
  t.strictSame(await errorsOf({ ...request, declarations }, 'name\n1\nx\n'), [[3, 'name', 'type']], 'was a text')
})

t.test('a file may be short, and a table may have no rowid or one field', async (t) => {
  const { requestFor, stageAll, errorsOf } = await start(t)
  const { request: single } = await requestFor('single')
  for (const empty of ['', '\ufeff', '\n']) t.strictSame(await errorsOf(single, empty), [[1, null, 'required']])
  for (const [text, rows] of [
    ['v', 0],
    ['v\r', 0],
    ['\ufeffv', 0],
    ['v\n\nx\n""', 3]
  ] as const)
    t.match((await stageAll(single, text, 1)).file, { rows, errors: { total: 0 } }, text)
  // The chunks of the thread have 128 KiB.
  const text = `v\n${'x'.repeat(128 * 1024 - 3)}\r\ny\n`
  t.match((await stageAll(single, text)).file, { rows: 2 }, 'a chunk ends inside a line end')
  const { request, structure } = await requestFor('composite')
  const guarded = { ...request, format: { ...CSV, unescapesFormulas: true } as const }
  const { staging, file } = await stageAll(guarded, 'v,k\n"\'=1",b\n2,"\'x"\n', 1000)
  t.equal(file.rows, 2)
  t.equal(structure.rowid, null)
  t.strictSame(await staging.step({ after: null, rows: 5, maxBytes: null }), { last: 3n, rows: 2 })
  t.strictSame(await staging.step({ after: null, rows: 5, maxBytes: 1 }), { last: 2n, rows: 1 }, 'limited by bytes')
})

t.test('NDJSON may have different fields in each line', async (t) => {
  const { requestFor, stageAll, errorsOf } = await start(t)
  const { request } = await requestFor('items', { format: NDJSON })
  const text = '\ufeff{"name":"a"}\n\n{"name":"b","n":2}\r\n{"n":null,"name":"c"}'
  t.match((await stageAll(request, text)).file, { rows: 3, fields: ['name', 'n'] })
  t.strictSame(
    await errorsOf(request, '{"name":5}\n{"name":null}\n{"name":"\\u0000"}\n{"what":1}\n{"what":1}\n{"id":1}\n'),
    [
      [1, 'name', 'type'],
      [2, 'name', 'required'],
      [3, 'name', 'format'],
      [4, 'what', 'unknown'],
      [5, 'what', 'unknown'],
      [6, null, 'fields']
    ]
  )
  t.strictSame(await errorsOf({ ...request, hasFixedFields: true }, '{"name":"a"}\n{"name":"b","n":1}\n'), [
    [2, null, 'fields']
  ])
  t.strictSame(await errorsOf(request, '{"name":"a"}\n[]\n5\n'), [[2, null, 'type']])
  t.strictSame(await errorsOf(request, '{"name":"a"}\n{\n'), [[2, null, 'syntax']])
  t.strictSame(await errorsOf(request, Buffer.from('{"name":"ä"}', 'latin1')), [[1, null, 'encoding']])
  t.strictSame(await errorsOf(request, `{"name":"a"}\n"${'x'.repeat(9 * 2 ** 20)}`), [[2, null, 'length']])
  const many = Array.from({ length: 120 }, (_, i) => `{"name":"n${i}","x${i}":1}`).join('\n')
  const names = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x${i}`, i % 2 === 0 ? 'n' : null]))
  t.match((await stageAll({ ...request, names }, many, 1000)).file, { rows: 120 })
  const { request: wide } = await requestFor('wide', { format: NDJSON })
  const orders = ordersOf(['b', 'c', 'd', 'e', 'a']).map((order, index) =>
    JSON.stringify(Object.fromEntries(order.map((name) => [name, `${index}`])))
  )
  t.match((await stageAll(wide, orders.join('\n'), 1000)).file, { rows: 120, errors: { total: 0 } })
  t.strictSame(await errorsOf(wide, '{"a":"x"}\n{"a":"X"}\n'), [[2, null, 'unique']], 'an index on an expression')
})

t.test('a failure of the staging file is an error', async (t) => {
  const { db, requestFor } = await start(t)
  const { request } = await requestFor('single')
  const staging = db.stage({ ...request, declarations: ['CREATE TABLE'] })
  t.match(await rejection(staging.end()), { message: /incomplete input/ })
  await staging.close()
  t.match(await rejection(staging.check([])), { code: 'OVERLOADED' })

  const full = db.stage({ ...request, declarations: [...request.declarations, 'PRAGMA max_page_count = 10'] })
  await full.write(Buffer.from(`v\n${`${'x'.repeat(100)}\n`.repeat(1000)}`))
  t.match(await rejection(full.end()), { code: 'DISK_FULL' })
  await full.close()
})

t.test('a thread without memory ends with an error', async (t) => {
  const { requestFor, stageAll } = await start(t)
  const required = Array.from({ length: 4_000_000 }, (_, index) => `name ${index}`)
  const { request } = await requestFor('single', { format: NDJSON, required })
  t.match(await rejection(stageAll(request, '{"v":"x"}\n')), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
})

t.test('files and directories of the user whose names resemble a staging file stay', async (t) => {
  const file = databaseFile(t)
  const directory = stagingDirectoryOf(file)
  const { newPath, prepare } = createStagingFiles(dirname(file), file)
  prepare()
  const files = [`${file}-import-notes`, `${newPath()}.csv`, join(directory, 'notes')]
  for (const name of files) writeFileSync(name, 'mine')
  const directories = [`${file}-import-folder`, newPath()]
  for (const name of directories) mkdirSync(name)
  await startEngine(t, file)
  for (const name of files) t.equal(readFileSync(name, 'utf8'), 'mine')
  for (const name of directories) t.ok(existsSync(name))
  t.equal(statSync(directory).mode & 0o777, 0o700, 'staged records are private')
})

t.test('files of a killed process are deleted at the start, and threads end at the close', async (t) => {
  const file = databaseFile(t)
  const directory = stagingDirectoryOf(file)
  const stagingFiles = () => readdirSync(directory)
  const { newPath, prepare } = createStagingFiles(dirname(file), file)
  prepare()
  const lost = newPath()
  const lostByOther = createStagingFiles(dirname(file), 'other.sqlite').newPath()
  for (const path of [lost, lostByOther]) writeFileSync(path, '')
  const db = await startEngine(t, file)
  t.strictSame(stagingFiles(), [basename(lostByOther)], 'a file of another service stays')
  rmSync(lostByOther)
  const [row] = await db.read(selectImportTarget('none'))
  t.equal(toImportTarget(row, {} as Structure), null)
  const staging = db.stage({
    table: 't',
    declarations: ['CREATE TABLE t (v)'],
    rowid: 'rowid',
    fields: [],
    required: [],
    names: {},
    fallbacks: [],
    format: CSV,
    keepsDigits: false,
    skip: 0,
    hasFixedFields: false
  })
  await staging.end()
  await staging.store({
    table: 't',
    structure: {} as Structure,
    rows: null,
    inserted: [],
    updated: [],
    on: null,
    otherKeys: [],
    hasConflictTriggers: false,
    setsUpdatedAt: false,
    guard: ''
  })
  await db.close()
  t.match(await rejection(staging.end()), { code: 'OVERLOADED' })
  t.match(await rejection(staging.close()), { code: 'OVERLOADED' })
  t.strictSame(stagingFiles(), [])
  t.match(await rejection(db.write([])), { code: 'OVERLOADED' })
})
