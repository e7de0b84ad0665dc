import t from 'tap'
import { serviceCaller } from '../../../services/model/caller.ts'
import { DomainError } from '../../../services/model/errors.ts'
import type { RegisteredTable, Registration } from '../../../services/model/table.ts'
import type { Access } from '../../../services/records/access/access.ts'
import { createExplain } from '../../../services/tokens/explain.ts'
import type { LiveToken } from '../../../services/tokens/live-token.ts'
import { createScope } from '../../../services/tokens/permissions.ts'

const permissions = { tables: ['*'], actions: ['read' as const] }
const token = { permissions, scope: createScope(permissions), role: null, isActive: true, expiresAt: null }

const table = { name: 'cats', isPublished: true, isEditable: true, isOutdated: false, structure: { isView: false } }

/** Returns an explanation of a token that may read everything. `changes`: what differs from a plain service. */
const explain = (changes: Partial<Parameters<typeof createExplain>[0]>, key?: string) =>
  createExplain({
    clock: () => 0,
    tokens: { find: () => token as unknown as LiveToken },
    findTable: () => table as unknown as RegisteredTable,
    decisionOf: () => undefined,
    accessOf: () => ({ columns: new Map(), writable: new Set() }) as unknown as Access,
    read: async () => '{}',
    ...changes
  })(serviceCaller, 1, { table: 'cats', action: 'read', ...(key !== undefined && { key }) })

t.test('a failure that is no refusal is not an explanation', async (t) => {
  const fail = () => {
    throw new Error('a bug')
  }
  await t.rejects(explain({ accessOf: fail }), { message: 'a bug' })
  t.match(await explain({}), { allowed: true, rows: 'All records.' })
})

t.test('a record that cannot be read is no record that is missing', async (t) => {
  const read = async () => {
    throw new DomainError('SCAN_TIMEOUT', 'Too slow.')
  }
  await t.rejects(explain({ read }, '1'), { code: 'SCAN_TIMEOUT' })
  t.match(await explain({}, '1'), { record: { exists: true, isVisible: true } })
})

t.test('tables that cannot be read are named, without their records', async (t) => {
  const unusable = { name: 'cats', structure: null, isPublished: false, wasPublished: true } as unknown as Registration
  const outdated = { ...table, isOutdated: true } as unknown as RegisteredTable
  const refuse = () => {
    throw new DomainError('STRUCTURE_CHANGED', 'It has changed.')
  }
  const expected = { allowed: false, rows: 'No records.', record: undefined }
  t.match(await explain({ findTable: () => unusable }, '1'), { ...expected, reason: /cannot be read/ })
  t.match(await explain({ findTable: () => outdated, accessOf: refuse }, '1'), {
    ...expected,
    reason: 'It has changed.'
  })
})
