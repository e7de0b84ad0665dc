import Database from 'better-sqlite3'

/** Tables with every kind of column, and with names that are hard for a generator. */

const KINDS = `
  CREATE TABLE kinds (
    id INTEGER PRIMARY KEY, whole INTEGER, needed_whole INTEGER NOT NULL, wide BIGINT, part REAL, needed_part REAL NOT NULL,
    words TEXT, needed_words TEXT NOT NULL, short VARCHAR(20), bytes BLOB, needed_bytes BLOB NOT NULL, flag BOOLEAN,
    needed_flag BOOLEAN NOT NULL, day DATE, needed_moment DATETIME NOT NULL, price DECIMAL(10, 2), number NUMERIC,
    anything, needed_anything NOT NULL, unusual JSON
  );
  CREATE TABLE strict_kinds (
    id INTEGER PRIMARY KEY AUTOINCREMENT, whole INT, needed_whole INTEGER NOT NULL, part REAL, needed_part REAL NOT NULL,
    words TEXT, needed_words TEXT NOT NULL, bytes BLOB, needed_bytes BLOB NOT NULL, anything ANY,
    needed_anything ANY NOT NULL
  ) STRICT;
  CREATE TABLE generated (
    id INTEGER PRIMARY KEY, net REAL NOT NULL, gross REAL GENERATED ALWAYS AS (net * 1.2) STORED,
    double INTEGER AS (id * 2), text TEXT AS ('net ' || net)
  );
  CREATE TABLE only_generated (id INTEGER PRIMARY KEY, double INTEGER AS (id * 2));
  CREATE TABLE defaults (
    id INTEGER PRIMARY KEY, zero INTEGER NOT NULL DEFAULT 0, least INTEGER DEFAULT -9223372036854775808, half REAL DEFAULT 0.5,
    word TEXT NOT NULL DEFAULT 'it''s "new" */ \\ %s {y}', empty TEXT DEFAULT '', bytes BLOB DEFAULT x'00ff',
    flag BOOLEAN NOT NULL DEFAULT TRUE, moment TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, sum INTEGER DEFAULT (1 + 1),
    none TEXT DEFAULT NULL, anything DEFAULT 1
  );
  CREATE TABLE checked (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('new', 'paid', 'sent back')),
    level TEXT CHECK (level IN ('low', 'high')),
    one TEXT NOT NULL CHECK (one IN ('only')),
    rank INTEGER NOT NULL CHECK (rank IN (1, 2, 3)),
    score INTEGER CHECK (score BETWEEN 0 AND 100), share REAL CHECK (share >= 0 AND share <= 1),
    far INTEGER CHECK (far >= -5000000000 AND far <= 5000000000), least INTEGER CHECK (least > 0),
    code TEXT CHECK (length(code) = 3), long TEXT CHECK (length(long) BETWEEN 2 AND 5000)
  );
  CREATE TABLE odd_states (
    id INTEGER PRIMARY KEY,
    mark TEXT NOT NULL CHECK (mark IN ('', ' ', '+', '-', '*/', '"', '''', '\\')),
    place TEXT NOT NULL CHECK (place IN ('日本', 'größe', '1st', 'class', 'text/html', 'a.b', 'c:d', 'ALL CAPS', '24')),
    same TEXT NOT NULL CHECK (same IN ('a b', 'a_b', 'a-b', 'A_B', 'aB')),
    word TEXT NOT NULL CHECK (word IN ('null', 'true', 'None', 'self', 'type', 'values', 'name', 'default', 'String'))
  );
  CREATE TABLE text_key (code TEXT NOT NULL PRIMARY KEY, n INTEGER);
  CREATE TABLE real_key (weight REAL NOT NULL PRIMARY KEY, n INTEGER);
  CREATE TABLE blob_key (hash BLOB NOT NULL PRIMARY KEY, n INTEGER);
  CREATE TABLE any_key (code PRIMARY KEY, n INTEGER);
  CREATE TABLE two_keys (shop TEXT NOT NULL, number INTEGER NOT NULL, n INTEGER, PRIMARY KEY (shop, number)) WITHOUT ROWID;
  CREATE TABLE only_keys (a INTEGER NOT NULL, b TEXT NOT NULL, c REAL NOT NULL, PRIMARY KEY (c, a, b)) WITHOUT ROWID;
  CREATE TABLE odd_keys ("my key" TEXT NOT NULL, "class" INTEGER NOT NULL, "2nd" TEXT NOT NULL, PRIMARY KEY ("my key", "class", "2nd"));
  CREATE TABLE word_keys (self TEXT NOT NULL, type INTEGER NOT NULL, PRIMARY KEY (self, type));
  CREATE TABLE without_key (words TEXT, n INTEGER);
  CREATE TABLE view (id INTEGER PRIMARY KEY, shown TEXT NOT NULL, fixed TEXT NOT NULL, secret TEXT);
  CREATE TABLE fixed (id INTEGER PRIMARY KEY, total REAL NOT NULL);
  CREATE TABLE tree (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES tree);
  CREATE TABLE hen (id INTEGER PRIMARY KEY, egg INTEGER REFERENCES egg);
  CREATE TABLE egg (id INTEGER PRIMARY KEY, hen INTEGER NOT NULL REFERENCES hen);
  CREATE TABLE links (
    id INTEGER PRIMARY KEY, type INTEGER REFERENCES type, "class" INTEGER REFERENCES "class", "my col" INTEGER REFERENCES "2",
    "a.b" INTEGER REFERENCES "Record", "1st" INTEGER REFERENCES "Option", "c*/d" INTEGER REFERENCES "日本",
    code TEXT REFERENCES text_key
  );
`

const words = (text) => text.trim().split(/\s+/)

/** Columns of one table each: if a generator cannot have one of them, it leaves out that table only. */
const COLUMNS = {
  reserved_words: words(`
    type self func None import return default fn def async await static final enum interface package match ref mod crate
    super new delete in is lambda yield range map chan var let const void null int string`),
  reserved_class: ['class'],
  this_word: ['this'],
  literals: ['true', 'false'],
  spaces: ['my col', 'other_col', 'third-col', 'fourth.col', 'camelCol', 'UPPER_COL', 'a/b', ' lead', 'trail '],
  near_names: ['my col', 'my_col'],
  near_cases: ['my_col', 'myCol'],
  quotes: ['a"b', 'c`d'],
  backslash: ['a\\b'],
  punctuation: ["it's", 'a{y}', '%s', 'n#', '@at', 'c*/d', 'e//f'],
  signs: ['+', '-', '/*', '*/', '#', '😀', '`', '\\', '"'],
  scripts: ['日本', 'größe', 'имя'],
  digits: ['1st', '2', '3d_model', '_4', '__5'],
  members: words('prototype then hashCode equals length name value values keys id key'),
  object_members: words('__proto__ constructor hasOwnProperty toString valueOf'),
  model_members: words('model_config model_fields schema json dict copy validate construct Error String'),
  marshal: ['MarshalJSON'],
  class_members: words('from_dict to_dict'),
  extra_members: ['additional_properties'],
  type_names: words('int str bool float list object date datetime String Integer Vec Any error TableRecord Option'),
  reference: ['$ref'],
  schema_words: words('example examples title properties items required description enum allOf'),
  parameters: words('body client page size order q pk field count success data rows total')
}

/** Names that a path has percent-encoded. */
export const ENCODED_TABLES = [
  'order ',
  'Track Page',
  '1st table',
  '日本',
  'a"b',
  "it's",
  '*/',
  '\\',
  '%41',
  'a/b',
  '{id}',
  '#'
]

const TABLES = words(`
  2 my_table class type self func None Order new_order nullable_order order_params TrackPage TableRecord Error Token
  Record String Object List Option Result Optional BaseModel Integer Time Client Api Test Context Serialize Value File`)

const quoted = (name) => `"${name.replaceAll('"', '""')}"`

const SQL = [
  KINDS,
  ...Object.entries(COLUMNS).map(
    ([table, names]) =>
      `CREATE TABLE ${quoted(table)} (row_key INTEGER PRIMARY KEY, ${names.map((name) => `${quoted(name)} INTEGER`).join(', ')});`
  ),
  ...[...ENCODED_TABLES, ...TABLES].map(
    (table) => `CREATE TABLE ${quoted(table)} (id INTEGER PRIMARY KEY, note TEXT NOT NULL, n INTEGER);`
  )
].join('\n')

/** Tables that Rowhouse makes: only they have columns of JSON. */
const CREATED = [
  {
    name: 'json_kinds',
    label: 'JSON "kinds" */ \\ `y` {z} %s',
    note: 'A note\nof two lines, with */ and """ and \'quotes\'.',
    autoTimestamps: true,
    fields: [
      { name: 'map', jsonType: 'object', label: 'A map */ \\ "x" {y}' },
      { name: 'needed_map', jsonType: 'object', nullable: false },
      { name: 'list', jsonType: 'array' },
      { name: 'needed_list', jsonType: 'array', nullable: false },
      { name: 'bytes', jsonType: 'string', sqliteType: 'BLOB' },
      { name: 'flag', jsonType: 'boolean', nullable: false, defaultValue: true },
      { name: 'part', jsonType: 'number', defaultValue: 0.5 },
      { name: 'secret', jsonType: 'string', isHidden: true },
      { name: 'fixed', jsonType: 'string', isReadonly: true }
    ]
  }
]

const readonly = (name) => ({ name, isReadonly: true })

const CHANGES = {
  view: { fields: [readonly('fixed'), { name: 'secret', isHidden: true }] },
  fixed: { fields: [readonly('total')], label: '*/ """ \\', note: '# "quoted" \\n `y`' },
  without_key: { isEditable: false }
}

const create = (file) => {
  const database = new Database(file)
  database.exec(SQL)
  database.close()
}

const prepare = async (send) => {
  for (const table of CREATED) await send('POST', '/admin/tables', table)
  const tables = await send('GET', '/admin/tables')
  for (const [name, changes] of Object.entries(CHANGES)) {
    const { id } = tables.find((table) => table.name === name)
    await send('PUT', `/admin/tables/${id}`, changes)
  }
}

/** A database whose token has all tables but these. */
export const oddTables = (unsupported) => ({
  create,
  prepare,
  tokens: (tables) => ({
    main: { tables: tables.filter((name) => !unsupported.includes(name)), actions: ['read', 'write'] }
  })
})
