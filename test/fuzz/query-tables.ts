import type { Stored } from '../sqlite-oracle.ts'
import type { ModelColumn } from './query-model.ts'
import type { Random } from './random.ts'

/** Values that are sent as JSON, with the stored values that a create makes of them. */
type Operand = readonly [json: unknown, stored: Stored]

export interface QueryColumn extends ModelColumn {
  readonly declaration: string
  readonly isText: boolean
  readonly values: readonly Stored[]
  /** Values that a filter may have. */
  readonly operands: readonly Operand[]
}

export interface QueryTable {
  readonly name: string
  readonly sql: string
  readonly columns: ReadonlyMap<string, QueryColumn>
  /** The columns that make every order total. */
  readonly key: readonly string[]
  /** Whether each value may have any type. */
  readonly isLoose: boolean
  /** The name of the rowid, if it breaks ties between keys that are NULL. */
  readonly rowid: string | null
}

const INTEGERS = [0n, 1n, 2n, -3n, 9007199254740993n, 9223372036854775807n, -(2n ** 63n)]
const REALS = [0, -0.5, 0.1, 1.5, 1e300, 5e-324, 55187088714656460, -1e18, 9.5]
const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'aB ',
  'b',
  'B',
  'ab  ',
  'Ä',
  'ä',
  '5',
  '15',
  'x%_',
  '猫',
  '\u{1F600}a',
  '\ufffd',
  "o'k"
]
const BLOBS = ['', '00', 'ff', 'fe', '6162'].map((hex) => Buffer.from(hex, 'hex'))
const DATES = ['2020-01-01', '2020-01-02', 'abc', 'ABC']

const integerOperand = (value: bigint): Operand => [
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value),
  value
]
const realOperand = (value: number): Operand => [value, value]
const textOperand = (value: string): Operand => [value, value]
const blobOperand = (value: Buffer): Operand => [value.toString('base64'), value]

const integerOperands = INTEGERS.map(integerOperand)
const realOperands = REALS.map(realOperand)
const textOperands = TEXTS.map(textOperand)
const smallOperands: readonly Operand[] = [0, 1, 15].map((value) => [value, BigInt(value)])

const column = (
  name: string,
  declaration: string,
  affinity: ModelColumn['affinity'],
  rest: Pick<QueryColumn, 'values' | 'operands'> & Partial<QueryColumn>
): QueryColumn => ({ name, declaration, affinity, collation: 'BINARY', isText: false, ...rest })

const text = (name: string, collation: ModelColumn['collation']) =>
  column(name, `TEXT COLLATE ${collation}`, 'TEXT', { collation, isText: true, values: TEXTS, operands: textOperands })

const STRICT_COLUMNS: readonly QueryColumn[] = [
  column('uid', 'INTEGER', 'INTEGER', { values: [], operands: integerOperands }),
  column('i', 'INTEGER', 'INTEGER', { values: INTEGERS, operands: integerOperands }),
  column('r', 'REAL', 'REAL', { values: [...REALS, Infinity, -Infinity], operands: realOperands }),
  text('t', 'BINARY'),
  text('c', 'NOCASE'),
  text('s', 'RTRIM'),
  column('b', 'BLOB', 'BLOB', { values: BLOBS, operands: BLOBS.map(blobOperand) }),
  column('u', 'ANY', 'BLOB', {
    isText: true,
    values: [0n, 1n, 15n, 9.5, 1.5, 'a', '15', 'A', ...BLOBS],
    operands: [...textOperands, ...smallOperands, [9.5, 9.5]]
  })
]

const LOOSE_COLUMNS: readonly QueryColumn[] = [
  ...STRICT_COLUMNS.map((strict) => (strict.name === 'u' ? { ...strict, declaration: '' } : strict)),
  column('n', 'NUMERIC', 'NUMERIC', {
    values: [...INTEGERS, 0.5, 9.5, 'abc'],
    operands: [...integerOperands, ...realOperands]
  }),
  column('d', 'DATETIME', 'NUMERIC', {
    isText: true,
    values: [...DATES, 15n, 1n, 9.5],
    operands: [...DATES.map(textOperand), ...smallOperands, ['15', '15'], [' 1 ', ' 1 ']]
  }),
  column('o', 'BOOLEAN', 'NUMERIC', {
    values: [0n, 1n, 7n],
    operands: [
      [true, 1n],
      [false, 0n]
    ]
  })
]

const INDEXES = ['i', 'r DESC', 't', 'c', 's, i', 'b', 'u', 'i, c DESC, r', 'c, i', 'u DESC, t', 't COLLATE NOCASE']
/** Few kinds of indexes, so that each is used by some random queries. */
const indexesOf = (table: string) =>
  INDEXES.map((columns, index) => `CREATE INDEX ${table}_${index} ON ${table} (${columns});`).join('\n')

interface Shape {
  readonly name: string
  readonly key: string
  readonly order: readonly string[]
  readonly isStrict?: boolean
  readonly withoutRowid?: boolean
  readonly isIndexed?: boolean
  readonly rowid?: string | null
}

const SHAPES: readonly Shape[] = [
  { name: 'plain', key: ', PRIMARY KEY (uid)', order: ['uid'] },
  { name: 'indexed', key: ', PRIMARY KEY (uid)', order: ['uid'], isIndexed: true },
  { name: 'strictly', key: ', PRIMARY KEY (uid)', order: ['uid'], isStrict: true, isIndexed: true },
  { name: 'pairs', key: ', PRIMARY KEY (c, uid DESC)', order: ['c', 'uid'], withoutRowid: true, isIndexed: true },
  { name: 'strict_pairs', key: ', PRIMARY KEY (b, uid)', order: ['b', 'uid'], withoutRowid: true, isStrict: true },
  { name: 'untyped', key: ', PRIMARY KEY (u, i, uid)', order: ['u', 'i', 'uid'], isIndexed: true, rowid: 'rowid' },
  { name: 'nullable', key: ', UNIQUE (uid), PRIMARY KEY (t, uid)', order: ['t', 'uid'], rowid: 'rowid' },
  { name: 'keyless', key: '', order: ['rowid'], isIndexed: true, rowid: 'rowid' },
  { name: 'strict_keyless', key: '', order: ['rowid'], isStrict: true, rowid: 'rowid' }
]

const ROWID = column('rowid', 'INTEGER', 'INTEGER', { values: [], operands: integerOperands })

const tableOf = ({
  name,
  key,
  order,
  isStrict = false,
  withoutRowid = false,
  isIndexed = false,
  rowid = null
}: Shape) => {
  const columns = isStrict ? STRICT_COLUMNS : LOOSE_COLUMNS
  const options = [isStrict ? 'STRICT' : [], withoutRowid ? 'WITHOUT ROWID' : []].flat().join(', ')
  const declared = columns.map((each) => `${each.name} ${each.declaration}`).join(', ')
  const all = order.includes('rowid') ? [ROWID, ...columns] : columns
  return {
    name,
    sql: `CREATE TABLE ${name} (${declared}${key}) ${options}; ${isIndexed ? indexesOf(name) : ''}`,
    columns: new Map(all.map((each) => [each.name, each])),
    key: order,
    isLoose: !isStrict,
    rowid
  } satisfies QueryTable
}

export const queryTables: readonly QueryTable[] = SHAPES.map(tableOf)

const ANY_VALUES: readonly Stored[] = [...INTEGERS, ...TEXTS, ...BLOBS, 1.5]

/** Returns random values of the declared columns of a row. Of a table that is not STRICT, some have another type. */
export const randomRow = ({ columns, key, isLoose, rowid }: QueryTable, random: Random, uid: number) =>
  [...columns.values()]
    .filter(({ name }) => name !== 'rowid')
    .map(({ name, values }): Stored => {
      if (name === 'uid') return BigInt(uid)
      const isNullable = rowid !== null || !key.includes(name)
      if (isNullable && random.chance(0.2)) return null
      return random.pick(isLoose && random.chance(0.05) ? ANY_VALUES : values)
    })
