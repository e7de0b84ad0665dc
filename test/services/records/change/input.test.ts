import t from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices, tokenCaller } from '../../services.ts'

const SCHEMA = `
  CREATE TABLE kinds (id INTEGER PRIMARY KEY, i INTEGER, r REAL, n NUMERIC, s TEXT, yes BOOLEAN, d DATE, u, b BLOB);
  CREATE TABLE documents (id INTEGER PRIMARY KEY, o TEXT, l TEXT, "a/b" INTEGER);
  CREATE TABLE stamped (id INTEGER PRIMARY KEY, a INTEGER DEFAULT 1, b INTEGER DEFAULT 2, s TEXT);
  CREATE TABLE "a.b" (id INTEGER PRIMARY KEY, "c" TEXT UNIQUE, "d.e/f" TEXT UNIQUE);
  CREATE TABLE outer_ones (id INTEGER PRIMARY KEY, a TEXT);
  CREATE TABLE inner_ones (a TEXT UNIQUE);
  CREATE TRIGGER copied AFTER INSERT ON outer_ones BEGIN INSERT INTO inner_ones VALUES (new.a); END;
  CREATE TABLE odd_keys (r REAL, d DATE, b BLOB, v TEXT, PRIMARY KEY (r, d, b));
  CREATE TABLE secrets (id INTEGER PRIMARY KEY, shown TEXT UNIQUE, hidden TEXT UNIQUE DEFAULT 'same', needed TEXT);
  CREATE TABLE guarded (id INTEGER PRIMARY KEY, shown TEXT, hidden TEXT NOT NULL);
`

/** For each field: the accepted values with their stored values, and the refused values. */
const RULES: Record<string, { accepted: readonly (readonly [unknown, unknown])[]; refused: readonly unknown[] }> = {
  i: {
    accepted: [
      [0, 0],
      [-0, 0],
      [-5, -5],
      [9007199254740991, 9007199254740991],
      ['9007199254740993', '9007199254740993'],
      ['-9223372036854775808', '-9223372036854775808'],
      [null, null]
    ],
    refused: [1.5, 2 ** 53, '5', '05', '9223372036854775808', 'x', '', true, [], {}, [1]]
  },
  r: {
    accepted: [
      [1.5, 1.5],
      [5, 5],
      [1e308, 1e308],
      [null, null]
    ],
    refused: ['1.5', true, {}]
  },
  n: {
    accepted: [
      [5, 5],
      [0.5, 0.5],
      ['9007199254740993', '9007199254740993']
    ],
    refused: ['0.5', '5', false, []]
  },
  s: {
    accepted: [
      ['', ''],
      ['7', '7'],
      ['007', '007'],
      ['null', 'null'],
      [null, null]
    ],
    refused: [7, true, {}, []]
  },
  yes: {
    accepted: [
      [true, true],
      [false, false],
      [null, null]
    ],
    refused: [0, 1, 'true', '']
  },
  d: {
    accepted: [
      ['2024-01-01', '2024-01-01'],
      [20240101, 20240101],
      [1.5, 1.5]
    ],
    refused: [true, {}]
  },
  u: {
    accepted: [
      ['5', '5'],
      [5, 5],
      [0.5, 0.5],
      ['', '']
    ],
    refused: [false, []]
  },
  b: {
    accepted: [
      ['AP8=', 'AP8='],
      ['', '']
    ],
    refused: ['AP8', '!', 5, true]
  }
}

t.test('the input of records', async (t) => {
  const { serve, tables, accessOf, records, registry, external } = await startServices(t, SCHEMA)
  const { create, read, update, id, remove } = await serve('kinds')

  for (const [field, { accepted, refused }] of Object.entries(RULES)) {
    t.test(`'${field}' stores accepted values without coercion`, async (t) => {
      for (const [sent, stored] of accepted) {
        const record = await create({ [field]: sent })
        t.strictSame(record[field], stored, JSON.stringify(sent))
        t.strictSame((await read(String(record.id)))[field], stored)
      }
    })

    t.test(`'${field}' refuses other values, and the error names the field`, async (t) => {
      for (const value of refused) {
        t.match(
          await rejection(create({ [field]: value })),
          { code: 'VALIDATION_FAILED', details: [{ path: `/${field}` }] },
          JSON.stringify(value)
        )
      }
    })
  }

  t.test('all violations of a body are reported together', async (t) => {
    const { details } = (await rejection(create({ i: 'x', s: 5, gone: 1, ID: 1 }))) as unknown as {
      details: { path: string; code: string }[]
    }
    t.strictSame(
      details.map(({ path, code }) => [path, code]),
      [
        ['/i', 'type'],
        ['/s', 'type'],
        ['/gone', 'unknown'],
        ['/ID', 'unknown']
      ]
    )
  })

  t.test('a response lists at most 20 violations', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`no${index}`, 1]))
    const { details } = (await rejection(create({ ...many, i: 'x' }))) as unknown as { details: { path: string }[] }
    t.strictSame(
      details.map(({ path }) => path),
      Object.keys(many)
        .slice(0, 20)
        .map((name) => `/${name}`)
    )
  })

  t.test('a key is generated or sent, and is unique', async (t) => {
    t.match(await create({ id: 5000 }), { id: 5000 })
    t.match(await create({ id: null }), { id: 5001 })
    t.match(await create({ id: '9223372036854775807' }), { id: '9223372036854775807' })
    t.match(await rejection(create({ id: 5000 })), { code: 'UNIQUE_VIOLATION', details: [{ path: '/id' }] })
    const { id } = await create({})
    t.ok(BigInt(id) > 0n && BigInt(id) < 2n ** 63n - 1n, 'after the largest key, SQLite chooses a random one')
    for (const key of [String(id), '9223372036854775807']) await remove(key)
  })

  t.test('an update keeps the key, and accepts read-only fields with their stored values', async (t) => {
    await create({ id: 6000, s: 'before', i: 1 })
    await update('6000', { id: 6000, s: 'after' })
    t.match(await read('6000'), { s: 'after', i: 1 })
    t.match(await rejection(update('6000', { id: 6001, s: 'never' })), { details: [{ path: '/id', code: 'readonly' }] })
    t.match(await rejection(update('6000', { id: null, s: 'never' })), { details: [{ path: '/id' }] })
    for (const body of [{}, { id: 6000 }]) t.match(await rejection(update('6000', body)), { code: 'VALIDATION_FAILED' })
    await tables.update(serviceCaller, id, { fields: [{ name: 'i', isReadonly: true }] })
    await update('6000', { i: 1, s: 'again' })
    for (const body of [{ i: 1 }, { id: 6000, i: 2 }]) {
      t.match(await rejection(update('6000', body)), {
        code: 'VALIDATION_FAILED',
        message: "'i' is read-only.",
        details: [{ path: '/i', code: 'readonly' }]
      })
    }
    t.match(await rejection(update('6000', { id: 6000 })), { message: 'There is nothing to change.' })
    t.match(await rejection(update('6000', { i: 2, s: 'never' })), {
      details: [{ path: '/i', code: 'readonly', message: "'i' is read-only." }]
    })
    t.match(await rejection(create({ i: 2 })), { details: [{ path: '/i', code: 'readonly' }] })
    t.match(await read('6000'), { s: 'again', i: 1 })
  })

  t.test('integers inside JSON that a number would round are refused, and the error has their path', async (t) => {
    const { id, create, read } = await serve('documents')
    const jsonType = (name: string, type: string) =>
      external
        .prepare("UPDATE _rowhouse_tables SET choices = replace(choices, ?, ?) WHERE name = 'documents'")
        .run(
          `"name":"${name}","label":"${name}","jsonType":"string"`,
          `"name":"${name}","label":"${name}","jsonType":"${type}"`
        )
    jsonType('o', 'object')
    jsonType('l', 'array')
    await registry.load()
    t.equal(tables.get(id).structure.columns[1]?.jsonType, 'object')

    const exact = {
      o: { m: { id: '9007199254740993', safe: 2 ** 53 - 1, half: 0.5, none: null } },
      l: [[-5, 'x', true]]
    }
    const created = await create(exact)
    t.match(await read(String(created.id)), exact)

    const rounded: readonly (readonly [body: object, path: string])[] = [
      [{ o: { m: { id: 2 ** 53 } } }, '/o/m/id'],
      [{ o: { 'a/b~': [1, -(2 ** 53)] } }, '/o/a~1b~0/1'],
      [{ l: [1, [{ x: 1e300 }]] }, '/l/1/0/x']
    ]
    for (const [body, path] of rounded) {
      t.match(
        await rejection(create(body)),
        { code: 'VALIDATION_FAILED', message: /send it as a string/, details: [{ path, code: 'range' }] },
        path
      )
    }
  })

  t.test('the path of a violation has the escaped name of its field', async (t) => {
    const { create } = await serve('documents')
    t.match(await rejection(create({ 'a/b': 'x', '~': 1 })), {
      details: [
        { path: '/a~1b', message: /^'a\/b' must be an integer/ },
        { path: '/~0', code: 'unknown' }
      ]
    })
  })

  t.test('an update names the key in its error only if another key was sent', async (t) => {
    const { id, create, update, read } = await serve('stamped')
    await tables.update(serviceCaller, id, { fields: ['a', 'b'].map((name) => ({ name, isReadonly: true })) })
    await create({ s: 'before' })
    t.match(await rejection(update('1', { id: 1, a: 5, s: 'z' })), {
      message: "'a' is read-only.",
      details: [{ path: '/a', code: 'readonly' }]
    })
    t.match(await rejection(update('1', { id: 1, a: 5, b: 2, s: 'z' })), {
      message: "'a', 'b' cannot change, and at least one of them differs from its stored value.",
      details: [{ path: '', code: 'readonly' }]
    })
    t.match(await rejection(update('1', { id: 2, a: 1, s: 'z' })), {
      message: "'id' is the key and cannot change.",
      details: [{ path: '/id', code: 'readonly' }]
    })
    t.equal((await read('1')).s, 'before')
    await update('1', { id: 1, a: 1, b: 2, s: 'after' })
    t.equal((await read('1')).s, 'after')
  })

  t.test('each part of a key is compared in its own text format', async (t) => {
    const { create, update } = await serve('odd_keys')
    const key = { r: 5, d: '7', b: 'AP8=' }
    await create(key)
    await update('5,7,AP8%3D', { ...key, v: 'same' })
    for (const [name, value] of Object.entries({ r: 5.5, d: 8, b: 'AP4=' })) {
      t.match(
        await rejection(update('5,7,AP8%3D', { ...key, [name]: value, v: 'other' })),
        { message: `'${name}' is the key and cannot change.`, details: [{ path: `/${name}` }] },
        name
      )
    }
  })

  t.test('a violation names its column even if the names have dots', async (t) => {
    const { create } = await serve('a.b')
    await create({ c: 'x', 'd.e/f': 'y' })
    t.match(await rejection(create({ c: 'x' })), { details: [{ path: '/c', message: "'c' is taken." }] })
    t.match(await rejection(create({ 'd.e/f': 'y' })), {
      details: [{ path: '/d.e~1f', message: "'d.e/f' is taken." }]
    })
  })

  t.test('a violation inside a trigger names no field', async (t) => {
    const { create } = await serve('outer_ones')
    await create({ a: 'x' })
    const error = await rejection(create({ a: 'x' }))
    t.match(error, { code: 'UNIQUE_VIOLATION' })
    t.equal(error.details, undefined)
  })

  t.test(
    'a record without a required hidden field is refused, and the field is named to administrators only',
    async (t) => {
      const guarded = await serve('guarded')
      await tables.update(serviceCaller, guarded.id, { fields: [{ name: 'hidden', isHidden: true }] })
      const error = await rejection(
        records.create(serviceCaller, accessOf(tokenCaller, tables.get(guarded.id), []), { shown: 'a' })
      )
      t.match(error, {
        code: 'CONSTRAINT_VIOLATION',
        message: 'The table requires fields that are hidden from tokens.'
      })
      t.equal(error.details, undefined)
      t.match(await rejection(guarded.create({ shown: 'a' })), { details: [{ path: '/hidden', code: 'required' }] })
      t.equal((await guarded.list()).total, 0)
    }
  )

  t.test('a violation names a hidden field to administrators only', async (t) => {
    const secrets = await serve('secrets')
    await tables.update(serviceCaller, secrets.id, { fields: [{ name: 'hidden', isHidden: true }] })
    const create = (body: Record<string, unknown>) =>
      records.create(serviceCaller, accessOf(tokenCaller, tables.get(secrets.id), []), body)
    t.strictSame(JSON.parse(await create({ shown: 'a' })), { id: 1, shown: 'a', needed: null })
    t.match(await rejection(create({ shown: 'a' })), { code: 'UNIQUE_VIOLATION' })
    const error = await rejection(create({ shown: 'b' }))
    t.match(error, { code: 'UNIQUE_VIOLATION' })
    t.equal(error.details, undefined)
    t.match(
      await rejection(secrets.create({ shown: 'b' })),
      { details: [{ path: '/hidden' }] },
      'an administrator sees it'
    )
    t.match(await rejection(create({ hidden: 'x' })), { details: [{ path: '/hidden', code: 'unknown' }] })
  })
})
