import t from 'tap'
import type { KeyRole } from '../../../services/model/caller.ts'
import type { RegisteredTable } from '../../../services/model/table.ts'
import type { Condition, RowRule } from '../../../services/sql/conditions.ts'
import type { RecordShape } from '../../../services/sql/record-shape.ts'
import type { RecordForm, RecordText } from '../../../services/sql/record-text.ts'
import { createSharedCache, type SharedCache } from '../../../services/sql/shared-cache.ts'
import type { Param, Statement } from '../../../services/sql/statement.ts'

const LIMITS = { max: 2 }

t.test('a cache of keys keeps its latest entries', (t) => {
  const cache = createSharedCache<string>(LIMITS)
  for (const name of ['a', 'b', 'c']) cache.set(name, name.toUpperCase())
  t.strictSame(
    ['a', 'b', 'c'].map((name) => cache.get(name)),
    [undefined, 'B', 'C']
  )
  t.end()
})

t.test('text and facts compile', (t) => {
  t.ok(createSharedCache<RecordForm>(LIMITS))
  t.ok(createSharedCache<RecordShape>(LIMITS))
  t.ok(createSharedCache<{ readonly tables: ReadonlyMap<string, RegisteredTable> }>(LIMITS))
  t.ok(createSharedCache<{ readonly texts: SharedCache<string> }>(LIMITS))
  t.end()
})

// The type check of the tests fails if one of these compiles.
t.test('what can hold a value of a key does not compile', (t) => {
  // @ts-expect-error a text with the values of a request
  t.ok(createSharedCache<RecordText>(LIMITS))
  // @ts-expect-error a statement
  t.ok(createSharedCache<Statement>(LIMITS))
  // @ts-expect-error a parameter, at any depth
  t.ok(createSharedCache<{ readonly parts: readonly { readonly params: readonly Param[] }[] }>(LIMITS))
  // @ts-expect-error a condition
  t.ok(createSharedCache<{ readonly rows: Condition | null }>(LIMITS))
  // @ts-expect-error a rule
  t.ok(createSharedCache<{ readonly rules: ReadonlyMap<string, RowRule> }>(LIMITS))
  // @ts-expect-error claims
  t.ok(createSharedCache<{ readonly role: KeyRole }>(LIMITS))
  // @ts-expect-error a function, which may have a key in its closure
  t.ok(createSharedCache<{ json(): string }>(LIMITS))
  // @ts-expect-error anything
  t.ok(createSharedCache<{ readonly value: unknown }>(LIMITS))
  t.end()
})
