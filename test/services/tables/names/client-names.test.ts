import { readFileSync } from 'node:fs'
import t from 'tap'
import { CLIENT_NAME_PATTERN } from '../../../../schemas/patterns.ts'
import {
  DERIVED_PREFIXES,
  DERIVED_SUFFIXES,
  isReservedTable,
  nameFields,
  tableCandidates,
  takenNames,
  takeTableName
} from '../../../../services/tables/names/client-names.ts'
import {
  isReservedForTables,
  SHARED_CONDITIONS,
  SHARED_SCHEMAS
} from '../../../../services/tables/names/reserved-words.ts'

const nameTables = async (stored: readonly string[], known: readonly string[] = []) => {
  const taken = takenNames(known)
  const names: string[] = []
  for (const [index, name] of stored.entries()) {
    names.push(takeTableName(await tableCandidates(name, known.length + index + 1), taken))
  }
  return names
}

t.test('a table gets its name in Pascal case', async (t) => {
  const cases = [
    ['order_items', 'OrderItems'],
    ['TrackPart', 'TrackPart'],
    ['ORDER_ITEMS', 'OrderItems'],
    ['HTTPLog', 'HTTPLog'],
    ['odd "name", with \'quotes\'', 'OddNameWithQuotes'],
    ['日本', 'RiBen'],
    ['Straße', 'Strasse'],
    ['1st', 'Table1st'],
    ['class', 'ClassTable'],
    ['String', 'StringTable'],
    ['None', 'NoneTable'],
    ['self', 'SelfTable'],
    ['record', 'RecordTable'],
    ['text_condition', 'TextConditionTable'],
    ['', 'Table1'],
    ['+-', 'Table1'],
    ['a'.repeat(80), `A${'a'.repeat(59)}`]
  ] as const
  for (const [stored, name] of cases) t.strictSame(await nameTables([stored]), [name], stored)
})

t.test('names are unique without regard to case, and numbered otherwise', async (t) => {
  t.strictSame(await nameTables(['Order', 'order', 'ORDER_']), ['Order', 'Order2', 'Order3'])
  t.strictSame(await nameTables(['Track Part', 'TrackPart']), ['TrackPart', 'TrackPart2'])
  t.strictSame(await nameTables(['log1', 'log_1', 'log12']), ['Log1', 'Log1x2', 'Log12'])
  t.strictSame(await nameTables(['', '-', '+']), ['Table1', 'Table2', 'Table3'])
  t.strictSame(await nameTables(['-'], ['Table2', 'Table3']), ['Table4'])
  const long = 'b'.repeat(70)
  t.strictSame(await nameTables([long, `${long}c`]), [`B${'b'.repeat(59)}`, `B${'b'.repeat(58)}2`])
})

t.test('names that the document derives from a table are not given to another one', async (t) => {
  for (const suffix of DERIVED_SUFFIXES) {
    t.strictSame(await nameTables(['album', `album${suffix}`]), ['Album', `Album${suffix}2`])
    t.strictSame(await nameTables([`album${suffix}`, 'album']), [`Album${suffix}`, 'Album2'])
  }
  for (const prefix of DERIVED_PREFIXES) {
    t.strictSame(await nameTables(['album', `${prefix}Album`]), ['Album', `${prefix}Album2`])
    t.strictSame(await nameTables([`${prefix}Album`, 'album']), [`${prefix}Album`, 'Album2'])
  }
  for (const name of ['Option', 'Serialize', 'Time', 'Int64']) t.ok(isReservedTable(name), name)
  t.strictSame(await nameTables(['a_page', 'a_page_envelope']), ['APage', 'APageEnvelope2'])
})

t.test('every schema and response of our own document is reserved', async (t) => {
  const { components } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  for (const name of Object.keys(components.schemas)) {
    t.ok(SHARED_SCHEMAS.includes(name), `${name} is in SHARED_SCHEMAS`)
    t.ok(isReservedForTables(name), name)
  }
  for (const name of Object.keys(components.responses)) t.ok(isReservedForTables(name), name)
  t.ok(isReservedTable('Record'))
  t.ok(isReservedTable('AdminAccountList'), 'AdminAccountListEnvelope is a shared schema')
})

t.test('every condition that typed documents share is reserved', async (t) => {
  for (const name of SHARED_CONDITIONS) t.ok(isReservedTable(name), name)
  t.notOk(isReservedTable('Text'), 'no condition is derived from a table')
})

t.test('fields get names that are unique in their table', async (t) => {
  t.strictSame(
    await nameFields(['id', 'my col', 'my_col', 'a"b', 'type', '1st', '', '+', 'date', '日', 'ID', 'self']),
    ['Id', 'MyCol', 'MyCol2', 'AB', 'TypeField', 'Field1st', 'Field7', 'Field8', 'Date', 'Ri', 'Id2', 'SelfField']
  )
  t.strictSame(await nameFields(['name', ''], ['Name', 'Field4']), ['Name2', 'Field4x2'].with(1, 'Field5'))
})

t.test('every given name matches the pattern that an administrator must keep to', async (t) => {
  const stored = [
    '',
    'a',
    '1',
    'é',
    '日本',
    '表'.repeat(50),
    'x'.repeat(99),
    '_',
    'class',
    '🎉',
    '\n',
    'Ω',
    'ı',
    'ﬁ',
    '\ud800'
  ]
  for (const name of [...(await nameTables([...stored, ...stored])), ...(await nameFields([...stored, ...stored]))])
    t.match(name, new RegExp(CLIENT_NAME_PATTERN))
})
