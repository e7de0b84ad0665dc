import t, { type Test } from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { DomainError, overloaded } from '../../../services/model/errors.ts'
import { createDailyUses } from '../../../services/tokens/daily-uses.ts'
import { createTestClock, openTestDatabase } from '../../session-app.ts'
import { createTokenService } from '../token-service.ts'

const DAY = 24 * 60 * 60 * 1000
const permissions = { tables: ['*'], actions: ['read' as const] }

/** Returns the service on a database with one token, on 1 March 2026. */
const start = async (t: Test) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const tokens = createTokenService({ db, clock })
  const { id } = await tokens.issue(serviceCaller, { name: 'shop', permissions })
  const create = (database: Database = db) => createDailyUses({ db: database, clock })
  const stored = () => db.read({ sql: 'SELECT * FROM _rowhouse_token_uses ORDER BY token_id, day', params: [] })
  return { db, advance, tokens, id, create, uses: create(), stored }
}

const times = (count: number, run: () => void) => Array.from({ length: count }, run)

t.test('requests are counted by status and by day, the latest day first', async (t) => {
  const { uses, id, advance } = await start(t)
  for (const status of [200, 400, 401, 403, 404, 429, 500, 503]) {
    uses.countRequest(id)
    uses.countStatus(id, status)
  }
  advance(DAY)
  uses.countRequest(id)
  t.strictSame(await uses.list(id), [
    { day: '2026-03-02', requests: 1, refused: 0, failed: 0 },
    { day: '2026-03-01', requests: 8, refused: 3, failed: 2 }
  ])
  t.strictSame(await uses.list(id + 1), [])
})

t.test('a day ends at midnight UTC', async (t) => {
  const { uses, id, advance } = await start(t)
  advance(DAY / 2 - 251)
  uses.countRequest(id)
  advance(1)
  uses.countRequest(id)
  t.strictSame(
    (await uses.list(id)).map(({ day, requests }) => [day, requests]),
    [
      ['2026-03-02', 1],
      ['2026-03-01', 1]
    ]
  )
})

t.test('flushes of several services add up', async (t) => {
  const { uses, id, create, stored } = await start(t)
  const other = create()
  for (const service of [uses, other, uses]) {
    service.countRequest(id)
    service.countStatus(id, 403)
    await service.flush()
  }
  other.countRequest(id)
  other.countStatus(id, 500)
  t.match(await stored(), [{ token_id: id, day: '2026-03-01', requests: 3, refused: 3, failed: 0 }])
  t.strictSame(await other.list(id), [{ day: '2026-03-01', requests: 4, refused: 3, failed: 1 }])
  t.strictSame(await uses.list(id), [{ day: '2026-03-01', requests: 3, refused: 3, failed: 0 }])
})

t.test('a flush without uses writes nothing', async (t) => {
  const { db, id, create } = await start(t)
  let writes = 0
  const uses = create({
    ...db,
    write: (...unit) => {
      writes += 1
      return db.write(...unit)
    }
  })
  await uses.flush()
  uses.countRequest(id)
  await uses.flush()
  await uses.flush()
  t.equal(writes, 1)
})

t.test('the flush after a failed one saves its uses once', async (t) => {
  const { db, id, create, stored } = await start(t)
  let isFull = true
  const uses = create({
    ...db,
    write: (...unit) => (isFull ? Promise.reject(overloaded('Full.', 1)) : db.write(...unit))
  })
  uses.countRequest(id)
  await t.rejects(uses.flush(), { code: 'OVERLOADED' })
  uses.countRequest(id)
  t.match(await uses.list(id), [{ requests: 2 }])
  isFull = false
  await uses.flush()
  await uses.flush()
  t.match(await stored(), [{ requests: 2 }])
})

t.test('uses whose flush has an unknown outcome are not counted twice', async (t) => {
  const { db, id, create, stored } = await start(t)
  const uses = create({
    ...db,
    write: async (...unit) => {
      await db.write(...unit)
      throw new DomainError('OUTCOME_UNKNOWN', 'Unknown.')
    }
  })
  uses.countRequest(id)
  await t.rejects(uses.flush(), { code: 'OUTCOME_UNKNOWN' })
  await uses.flush()
  t.match(await stored(), [{ requests: 1 }])
  t.match(await uses.list(id), [{ requests: 1 }])
})

t.test('a request during a flush is counted, and a list during a flush counts nothing twice', async (t) => {
  const { db, id, create, stored } = await start(t)
  const uses = create({
    ...db,
    write: async (...unit) => {
      const results = await db.write(...unit)
      uses.countRequest(id)
      uses.countStatus(id, 500)
      return results
    }
  })
  uses.countRequest(id)
  const [, listed] = await Promise.all([uses.flush(), uses.list(id)])
  t.match(await stored(), [{ requests: 1, failed: 0 }])
  t.match(listed, [{ requests: 2, failed: 1 }])
})

t.test('a token that was deleted is skipped, and its uses are deleted', async (t) => {
  const { uses, id, tokens, stored } = await start(t)
  const other = await tokens.issue(serviceCaller, { name: 'other', permissions })
  uses.countRequest(id)
  await uses.flush()
  uses.countRequest(id)
  uses.countRequest(other.id)
  await tokens.revoke(serviceCaller, id)
  await uses.flush()
  t.match(await stored(), [{ token_id: other.id, requests: 1 }])
  t.strictSame(await uses.list(id), [])
})

t.test('uses are saved in units of at most 1,000 tokens', async (t) => {
  const { db, tokens, create, stored } = await start(t)
  const issued = await Promise.all(
    times(1200, () => {}).map(() => tokens.issue(serviceCaller, { name: 'a', permissions }))
  )
  const units: number[] = []
  const uses = create({
    ...db,
    write: ([statement], options) => {
      units.push(JSON.parse(String(statement?.params[1])).length)
      return db.write(statement ? [statement] : [], options)
    }
  })
  for (const { id } of issued) uses.countRequest(id)
  await uses.flush()
  t.strictSame(units, [1000, 200])
  t.equal((await stored()).length, 1200)
})

t.test('days older than 90 days are neither listed nor kept', async (t) => {
  const { db, uses, id, advance, tokens, create, stored } = await start(t)
  // A purge reads the tokens in steps of 1,000.
  await Promise.all(times(1100, () => {}).map(() => tokens.issue(serviceCaller, { name: 'a', permissions })))
  const last = (await tokens.issue(serviceCaller, { name: 'last', permissions })).id
  for (const token of [id, last]) uses.countRequest(token)
  await uses.flush()
  advance(DAY)
  uses.countRequest(id)
  await uses.flush()
  advance(88 * DAY)
  t.equal((await uses.list(id)).length, 2)
  await uses.purge()
  t.equal((await stored()).length, 3)
  advance(DAY)
  t.match(await uses.list(id), [{ day: '2026-03-02' }])
  await uses.purge()
  t.match(await stored(), [{ token_id: id, day: '2026-03-02' }])

  const write = () => t.fail('nothing is left to delete')
  await create({ ...db, write: write as unknown as Database['write'] }).purge()
})

t.test('a purge after a long stop deletes at most 1,000 rows in each unit', async (t) => {
  const { db, id, create, stored } = await start(t)
  const days = Array.from({ length: 2500 }, (_, n) => new Date(n * DAY).toISOString().slice(0, 10))
  await db.write([
    {
      sql: `INSERT INTO _rowhouse_token_uses (token_id, day, requests, refused, failed)
        SELECT ?, value, 1, 0, 0 FROM temp.json_each(?)`,
      params: [BigInt(id), JSON.stringify([...days, '2026-02-28'])]
    }
  ])
  const deleted: number[] = []
  const uses = create({
    ...db,
    write: async (...unit) => {
      const results = await db.write(...unit)
      deleted.push(...results.map(({ changes }) => changes))
      return results
    }
  })
  await uses.purge()
  t.strictSame(deleted, [1000, 1000, 500])
  t.match(await stored(), [{ token_id: id, day: '2026-02-28' }])
  t.equal((await stored()).length, 1)
})
