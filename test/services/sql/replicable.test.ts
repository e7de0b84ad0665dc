import t from 'tap'
import { readDeclared } from '../../../services/engine/reader/schema-copy.ts'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { migrate } from '../../../services/engine/writer/migrations.ts'
import type { Unreplicable } from '../../../services/model/table.ts'
import { findUnreplicable } from '../../../services/sql/replicable.ts'
import { notReplicable } from '../../../services/tables/failures.ts'

const open = (file = ':memory:') => openConnection({ file, readonly: false, busyTimeout: 0, cacheSize: 1 })

const find = (...statements: readonly string[]): ReadonlyMap<string, Unreplicable> => {
  const connection = open()
  try {
    connection.raw.exec(statements.join(';\n'))
    return findUnreplicable(readDeclared(connection))
  } finally {
    connection.close()
  }
}

const CATS = 'CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, born TEXT)'
const LOG = 'CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT, born TEXT)'
const trigger = (body: string, event = 'AFTER INSERT ON cats') => `CREATE TRIGGER changed ${event} BEGIN ${body}; END`

/** Schemas of `cats` that can be changed. */
const ACCEPTED: readonly (readonly string[])[] = [
  [CATS],
  ['CREATE TABLE cats (code TEXT PRIMARY KEY)'],
  ['CREATE TABLE cats (code TEXT PRIMARY KEY) WITHOUT ROWID'],
  ['CREATE TABLE cats (a, b, PRIMARY KEY (a, b))'],
  ['CREATE TABLE cats (id INTEGER, PRIMARY KEY (id))'],
  ['CREATE TABLE cats (id INTEGER PRIMARY KEY AUTOINCREMENT)', trigger('DELETE FROM sqlite_sequence WHERE 0')],
  ["CREATE TABLE cats (id INTEGER PRIMARY KEY, a DATETIME(6) DEFAULT 'now', random DATE(10) DEFAULT 5)"],
  ['CREATE TABLE cats (id INTEGER PRIMARY KEY, a DEFAULT CURRENT_TIMESTAMP)'],
  ["CREATE TABLE cats (id INTEGER PRIMARY KEY, a DEFAULT (strftime('%s', 'now')))"],
  ['CREATE TABLE cats (id INTEGER PRIMARY KEY, d TEXT, y AS (date(d)), CHECK (julianday(d) > 0))'],
  ["CREATE TABLE cats (id INTEGER PRIMARY KEY, d TEXT CHECK (date(d) IS d), e CHECK (date('2026-01-31') > e))"],
  [CATS, 'CREATE INDEX by_day ON cats (date(born))'],
  [
    CATS,
    'CREATE TABLE date (a PRIMARY KEY REFERENCES time (a))',
    'CREATE INDEX i ON date (a)',
    trigger('INSERT INTO date (a) VALUES (1)')
  ],
  [CATS, LOG, trigger('INSERT INTO log (name) VALUES (NEW.name)')],
  [CATS, trigger('DELETE FROM gone')],
  [CATS, LOG, trigger("UPDATE log SET born = date(NEW.born + 0, '+1 day') WHERE id = NEW.id")],
  [
    CATS,
    LOG,
    trigger(
      'UPDATE log SET born = date(0, \'unixepoch\'), name = NEW."random"',
      'AFTER DELETE ON cats WHEN OLD.id > 1'
    ).replace('NEW."random"', 'OLD.name')
  ],
  [
    CATS,
    'CREATE TABLE log (name, at DEFAULT CURRENT_TIMESTAMP)',
    trigger('INSERT INTO log (name, at) VALUES (NEW.name, NEW.born)')
  ],
  [
    CATS,
    'CREATE TABLE log (name, at DEFAULT CURRENT_TIMESTAMP)',
    trigger('INSERT INTO log VALUES (NEW.name, NEW.born)')
  ],
  [CATS, LOG, trigger('INSERT INTO log (name) SELECT name FROM cats ORDER BY id')],
  [CATS, LOG, trigger('INSERT INTO log (name) SELECT NEW.name WHERE NEW.id > 5')],
  [CATS, LOG, trigger('INSERT INTO log SELECT * FROM cats WHERE id = NEW.id')],
  [CATS, 'CREATE TABLE v0 (a PRIMARY KEY)', 'CREATE VIEW v AS SELECT a FROM v0', trigger('INSERT INTO v VALUES (1)')],
  [CATS, LOG, trigger('INSERT INTO log AS l (name, id) SELECT name, id FROM cats')],
  [CATS, 'CREATE TABLE log (name PRIMARY KEY)', trigger('INSERT INTO log (name) SELECT name FROM cats')],
  [
    CATS,
    'CREATE VIRTUAL TABLE words USING fts5 (name)',
    trigger('INSERT INTO words (rowid, name) SELECT id, name FROM cats')
  ],
  [
    CATS,
    LOG,
    trigger(
      'UPDATE log SET name = (SELECT name FROM cats ORDER BY id LIMIT 1); DELETE FROM log WHERE rowid = NEW.rowid'
    )
  ],
  [
    'CREATE TABLE cats (id INTEGER PRIMARY KEY, begin)',
    LOG,
    trigger('DELETE FROM log', 'AFTER UPDATE OF begin ON cats')
  ],
  [
    CATS,
    'CREATE TABLE toys (id INTEGER PRIMARY KEY, cat REFERENCES cats (id) ON DELETE RESTRICT, code DEFAULT (random()))'
  ],
  [CATS, 'CREATE TABLE toys (id INTEGER PRIMARY KEY, cat DEFAULT 5 REFERENCES cats (id) ON DELETE SET DEFAULT)'],
  [CATS, 'CREATE TABLE other (a)', 'CREATE TRIGGER t AFTER INSERT ON other BEGIN SELECT random(); END'],
  [CATS, "CREATE VIEW today AS SELECT date('now') AS day", trigger('SELECT NEW.name')]
]

for (const statements of ACCEPTED) {
  t.test(`every node stores the same: ${statements.join('; ')}`, async (t) => {
    t.strictSame(find(...statements).get('cats'), undefined)
  })
}

const CALLED = [
  ['random()', /random\(\) has another value/],
  ['hex(randomblob(16))', /randomblob\(\) has another value/],
  ['CURRENT_TIMESTAMP', /CURRENT_TIMESTAMP is the time/],
  ['datetime()', /datetime\(\) returns the time/],
  ["strftime('%s')", /strftime\(\) returns the time/],
  ["unixepoch('subsec')", /unixepoch\(\) returns the time/],
  ["timediff('2026-01-31', 'now')", /timediff\(\) returns the time/],
  ["date(NEW.born, 'localtime')", /date\(\) uses the time zone/],
  ['julianday(NEW.born)', /if the text is 'now'/],
  ["date('2026-01-31', NEW.name)", /if the text is 'now'/],
  ['last_insert_rowid()', /last_insert_rowid\(\) is lost on a node that restarts/],
  ['changes()', /changes\(\) is lost/],
  ['"total_changes"()', /total_changes\(\) is lost/],
  ['sqlite_version()', /sqlite_version differs/],
  ['(SELECT rootpage FROM sqlite_schema)', /sqlite_schema differs/],
  ['(SELECT name FROM log LIMIT 1)', /LIMIT without ORDER BY/],
  ['(SELECT day FROM today)', /date\(\) returns the time/],
  ['(SELECT max(rowid) FROM hidden)', /the rowid of 'hidden' changes/]
] as const

for (const [called, cause] of CALLED) {
  t.test(`a trigger that uses ${called} prevents changes`, async (t) => {
    const today = "CREATE VIEW today AS SELECT date('now') AS day"
    const found = find(CATS, LOG, today, 'CREATE TABLE hidden (a UNIQUE)', trigger(`UPDATE log SET name = ${called}`))
    t.match(found.get('cats'), { subject: "the trigger 'changed' of 'cats'", cause, remedy: /\.$/ })
    t.notOk(found.has('log'), 'a change of another table does not fire the trigger')
  })
}

const NO_ORDER = /has no ORDER BY/
const REFUSED: readonly (readonly [RegExp, RegExp, ...string[]])[] = [
  [/^the table 'cats'$/, /rowid that is no column/, 'CREATE TABLE cats (name TEXT UNIQUE)'],
  [/default of 'a'/, /random/, 'CREATE TABLE cats (id INTEGER PRIMARY KEY, a DEFAULT (random()))'],
  [
    /default of 'a'/,
    /time zone|time of/,
    "CREATE TABLE cats (id INTEGER PRIMARY KEY, a DEFAULT (date('now', 'localtime')))"
  ],
  [/column 'a' of 'cats'/, /date\(\) returns/, "CREATE TABLE cats (id INTEGER PRIMARY KEY, a AS (date('now')))"],
  [/CHECK of 'cats'/, /date\(\) returns/, "CREATE TABLE cats (id INTEGER PRIMARY KEY, CHECK (date('now') > id))"],
  [/index 'i' of 'cats'/, /date\(\) returns/, CATS, "CREATE INDEX i ON cats (id) WHERE name > date('now')"],
  [
    /trigger 'changed'/,
    /leaves out 'at' of 'log'/,
    CATS,
    'CREATE TABLE log (name, at DEFAULT CURRENT_TIMESTAMP)',
    trigger('INSERT INTO log (name) VALUES (NEW.name)')
  ],
  [/trigger 'changed'/, NO_ORDER, CATS, LOG, trigger('INSERT INTO log (name) SELECT name FROM cats')],
  [/trigger 'changed'/, NO_ORDER, CATS, LOG, trigger('INSERT INTO log SELECT NULL, name, born FROM cats')],
  [/trigger 'changed'/, NO_ORDER, CATS, LOG, trigger('INSERT OR IGNORE INTO log SELECT * FROM cats')],
  [/trigger 'changed'/, NO_ORDER, CATS, LOG, trigger('REPLACE INTO log SELECT * FROM cats')],
  [/trigger 'changed'/, NO_ORDER, CATS, 'CREATE TABLE log (name)', trigger('INSERT INTO log SELECT name FROM cats')],
  [
    /trigger 'changed'/,
    NO_ORDER,
    CATS,
    'CREATE VIRTUAL TABLE words USING fts5 (name)',
    trigger('INSERT INTO words SELECT name FROM cats')
  ],
  [
    /trigger 'changed'/,
    NO_ORDER,
    CATS,
    'CREATE TABLE log (id INTEGER PRIMARY KEY DESC, n)'.replace(' PRIMARY KEY DESC', ''),
    trigger('INSERT INTO log SELECT id, name FROM cats')
  ],
  [
    /trigger 'changed'/,
    /rowid of 'cats'/,
    'CREATE TABLE cats (id INTEGER PRIMARY KEY DESC)',
    LOG,
    trigger('DELETE FROM log WHERE id = NEW.rowid')
  ],
  [
    /trigger 'changed'/,
    /rowid of 'cats'/,
    'CREATE TABLE cats (a INTEGER, b, PRIMARY KEY (a, b))',
    LOG,
    trigger('DELETE FROM log WHERE id = NEW.oid')
  ],
  [
    /trigger 'b' of 'log'/,
    /random/,
    CATS,
    LOG,
    trigger('DELETE FROM log'),
    'CREATE TRIGGER b AFTER DELETE ON log BEGIN SELECT random(); END'
  ],
  [
    /trigger 'b' of 'v'/,
    /random/,
    CATS,
    'CREATE VIEW v AS SELECT 1 AS a',
    trigger('UPDATE v SET a = 2'),
    'CREATE TRIGGER b INSTEAD OF UPDATE ON v BEGIN SELECT random(); END'
  ],
  [
    /trigger 'b' of 'toys'/,
    /random/,
    CATS,
    'CREATE TABLE toys (id INTEGER PRIMARY KEY, cat REFERENCES cats (id) ON UPDATE CASCADE REFERENCES codes (id))',
    'CREATE TRIGGER b AFTER UPDATE ON toys BEGIN SELECT random(); END'
  ],
  [
    /trigger 'b' of 'toys'/,
    /random/,
    CATS,
    'CREATE TABLE toys (id INTEGER PRIMARY KEY, cat, FOREIGN KEY (cat) REFERENCES "cats" (id) ON DELETE SET NULL)',
    'CREATE TRIGGER b AFTER UPDATE ON toys BEGIN SELECT random(); END'
  ],
  [
    /SET DEFAULT of 'toys'/,
    /random/,
    CATS,
    'CREATE TABLE toys (id INTEGER PRIMARY KEY, cat DEFAULT (random()) REFERENCES cats (id) ON DELETE SET DEFAULT)'
  ]
]

for (const [subject, cause, ...statements] of REFUSED) {
  t.test(`nodes may store other values: ${statements.join('; ')}`, async (t) => {
    t.match(find(...statements).get('cats'), { subject, cause, remedy: /\.$/ })
  })
}

t.test('our own tables can be changed', async (t) => {
  const connection = open()
  t.teardown(() => connection.close())
  migrate(connection)
  t.strictSame([...findUnreplicable(readDeclared(connection))], [])
})

t.test('the error names the table, the reason and what to do', async (t) => {
  const reason = find('CREATE TABLE cats (id INTEGER PRIMARY KEY, a DEFAULT (random()))').get('cats') as Unreplicable
  t.match(notReplicable('cats', reason), {
    code: 'NOT_REPLICABLE',
    kind: 'conflict',
    message:
      "'cats' can only be read, because the nodes of the cluster would store different values: the default of 'a': random() has another value on each node.",
    hint: 'Remove the default, and send the value with each record.'
  })
})
