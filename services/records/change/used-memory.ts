import type { Caller } from '../../model/caller.ts'
import type { UsedMemory } from '../../model/memory.ts'
import type { Operation } from './operation.ts'

const ALWAYS: readonly UsedMemory[] = [
  ['structure', null],
  ['settings', null]
]

const credentialOf = ({ kind, id }: Caller): readonly UsedMemory[] => {
  if (kind === 'token') return [['tokens', id]]
  return kind === 'key' ? [['admin_keys', id]] : []
}

/** Returns the cached rows that the unit of a caller's operations is made from. */
export const usedMemory = (caller: Caller, operations: readonly Operation[]): readonly UsedMemory[] => [
  ...ALWAYS,
  ...credentialOf(caller),
  ...(caller.role ? [['roles', caller.role.id] as const] : []),
  ...operations.flatMap(({ table }) => (table ? [['tables', table.id] as const] : []))
]
