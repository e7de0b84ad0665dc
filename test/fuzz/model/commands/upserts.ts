import fc from 'fast-check'
import { command, pick } from '../harness.ts'
import { mayDo } from '../model.ts'
import type { Body } from '../records.ts'
import { upsertRecord } from '../upserts.ts'
import { toJson } from '../values.ts'
import { selector, sometimes } from './arbitraries.ts'
import { ANY_VALUE, type Entry, entry, newBody, rowAt } from './records.ts'
import { findTarget, sendAs, type TargetTable, target } from './targets.ts'

export const upsertInput = {
  entries: fc.array(entry, { maxLength: 4 }),
  seed: selector,
  row: selector,
  on: selector
}

export interface UpsertInput {
  readonly entries: readonly Entry[]
  readonly seed: number
  readonly row: number
  readonly on: number
}

/** Returns the fields of the key or of a unique index, in any order. In one of 24 cases they may be others. */
const chooseKey = ({ table, stored, fields }: TargetTable, n: number): readonly string[] => {
  if (n % 24 === 23) return [pick(fields, n >> 5)?.name ?? 'nothing', ...(n % 48 === 47 ? table.key : [])]
  const unique = (stored?.indexes ?? []).filter(({ isUnique }) => isUnique)
  const names = pick([table.key, ...unique.map((index) => index.fields)], n >> 2) ?? []
  return n % 2 === 0 ? names : names.toReversed()
}

/** Returns the fields that identify a record, and a body that has them: in half of the cases those of a stored record. */
export const toUpsert = (targetTable: TargetTable, { entries, seed, row, on: at }: UpsertInput) => {
  const on = chooseKey(targetTable, at)
  const body: Body = newBody(targetTable, entries, seed)
  const known = seed % 2 === 0 ? rowAt(targetTable, row) : undefined
  const isIncomplete = seed % 30 === 29
  for (const { name, jsonType } of isIncomplete ? [] : targetTable.fields) {
    if (!on.includes(name)) continue
    if (known) body[name] = toJson(jsonType, known.get(name) ?? null)
    else body[name] ??= pick(ANY_VALUE[jsonType], seed >> 2)
  }
  return { on: on.length === 0 ? ['nothing'] : on, body }
}

const NOTHING = { on: ['nothing'], body: {} }

const upsert = command(
  9,
  fc.record({ ...target, ...upsertInput, onlyCreates: sometimes(fc.constant(true), 5) }),
  (harness, { entries, seed, row, on: at, onlyCreates, ...target }) => {
    const { model } = harness
    const targetTable = findTarget(model, target)
    const { on, body } = targetTable ? toUpsert(targetTable, { entries, seed, row, on: at }) : NOTHING
    const query = `?upsert=${encodeURIComponent(on.join(','))}`
    const headers = onlyCreates === null ? undefined : { 'if-none-match': '*' }
    const request = {
      need: 'create',
      alsoNeeds: 'update',
      method: 'POST',
      query,
      payload: body,
      ...(headers && { headers })
    } as const
    return sendAs(harness, target, request, (table, viewer, returned, { token }) => {
      const mayRead = token === undefined || mayDo(token, 'read', table.name)
      return upsertRecord(model, table, viewer, { body, on, mayRead, onlyCreates: onlyCreates !== null }, returned)
    })
  }
)

export const upsertCommands = { upsert }
