import t, { type Test } from 'tap'
import { createViewScans } from '../../../../services/engine/loop/view-scans.ts'
import { createSchemaTrials } from '../../../../services/engine/rqlite/schema-trials.ts'
import { openConnection } from '../../../../services/engine/shared/connection.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import type { Statement } from '../../../../services/sql/statement.ts'
import { databaseFile, prepareFile, rejection, sql } from '../engine.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER);
  CREATE TABLE codes (code TEXT PRIMARY KEY, cat INTEGER REFERENCES cats (id)) WITHOUT ROWID;
  CREATE INDEX cats_name ON cats (name);
  CREATE VIRTUAL TABLE words USING fts5 (name, content = 'cats', content_rowid = 'id');
  CREATE VIEW names AS SELECT id, name AS title, lives + 1 AS more FROM cats;
  CREATE VIEW cats_of_codes AS SELECT code, title FROM codes JOIN names ON names.id = codes.cat;
  CREATE VIEW broken AS SELECT x FROM gone;
  CREATE TRIGGER counted AFTER INSERT ON codes BEGIN UPDATE cats SET lives = lives - 1 WHERE id = NEW.cat; END;
  INSERT INTO cats (name) VALUES ('Tom'), ('Tom');`

/** Returns the trials of a stand-in for a cluster, and those of a file with the same schema. */
const start = (t: Test, limit = 30_000) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const connection = openConnection({ file, readonly: true, busyTimeout: 0, cacheSize: 1 })
  const client = {
    query: async (statements: readonly Statement[]) =>
      connection.raw.transaction(() => statements.map(({ sql, params }) => connection.rows(sql, params)))()
  }
  const cluster = createSchemaTrials({ client, limit })
  const ofFile = createViewScans({ file, cacheSize: 2 })
  t.teardown(async () => {
    await cluster.close()
    await ofFile.close()
    connection.close()
  })
  return { cluster, ofFile }
}

t.test('a trial on the schema of a cluster has the result of one on a file', async (t) => {
  const { cluster, ofFile } = start(t)
  for (const text of [
    'ALTER TABLE cats RENAME COLUMN name TO title',
    'ALTER TABLE cats DROP COLUMN lives',
    'DROP TABLE cats',
    'ALTER TABLE codes ADD COLUMN note TEXT'
  ]) {
    const tried = await cluster.tryChange([sql(text)], serviceCaller)
    t.match(tried, { declarations: /CREATE TABLE cats/ }, text)
    t.strictSame(tried, await ofFile.tryChange([sql(text)], serviceCaller), text)
  }
})

t.test('a unit that cannot run fails as on a file, and one that only rows prevent does not fail', async (t) => {
  const { cluster, ofFile } = start(t)
  const dropped = [sql('SELECT 1'), sql('DROP TABLE gone')]
  const error = await rejection(cluster.tryChange(dropped, serviceCaller))
  t.match(error, { code: 'STRUCTURE_CHANGED', statement: 1, cause: 'SQLITE_ERROR: no such table: gone' })
  t.match(await rejection(ofFile.tryChange(dropped, serviceCaller)), { statement: 1, cause: String(error.cause) })
  const unique = [sql('CREATE UNIQUE INDEX one_name ON cats (name)')]
  t.match(await cluster.tryChange(unique, serviceCaller), { broken: [] })
  const options = { foreignKeys: false }
  t.match(await cluster.tryChange([sql('DROP TABLE codes')], serviceCaller, options), {
    broken: [{ name: 'cats_of_codes' }]
  })
})

t.test('a view of a cluster is described as one of a file', async (t) => {
  const { cluster, ofFile } = start(t)
  for (const name of ['names', 'cats_of_codes']) {
    t.strictSame(await cluster.describe(name, serviceCaller), await ofFile.describe(name, serviceCaller), name)
  }
  t.match(await rejection(cluster.describe('broken', serviceCaller)), { code: 'STRUCTURE_CHANGED', reported: /gone/ })
  t.equal(cluster.countProcesses(), 1)
})

t.test('a trial that does not end is stopped', async (t) => {
  const { cluster } = start(t, 300)
  const endless = sql('WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n')
  t.match(await rejection(cluster.tryChange([endless], serviceCaller)), { code: 'SCAN_TIMEOUT' })
  t.match(await cluster.tryChange([sql('SELECT 1')], serviceCaller), { broken: [] })
})

t.test('a cluster that does not respond fails trials and descriptions', async (t) => {
  const unavailable = new DomainError('STORAGE_UNAVAILABLE', 'The cluster has no leader.')
  const cluster = createSchemaTrials({ client: { query: () => Promise.reject(unavailable) } })
  t.teardown(() => cluster.close())
  t.equal(await rejection(cluster.tryChange([], serviceCaller)), unavailable)
  t.equal(await rejection(cluster.describe('names', serviceCaller)), unavailable)
  t.equal(cluster.countProcesses(), 0)
})
