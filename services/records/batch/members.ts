import type { BatchOperation, OperationName } from '../../../schemas/batch.ts'
import { furtherActionsOf, type TableAction } from '../../model/actions.ts'
import { excerpt, invalid, MAX_DETAILS, pointer } from '../../model/errors.ts'

type Member = Exclude<keyof BatchOperation, 'op' | 'table'>

interface Members {
  readonly required: readonly Member[]
  readonly optional: readonly Member[]
}

const MEMBERS: Record<OperationName, Members> = {
  create: { required: ['values'], optional: ['onConflict'] },
  upsert: { required: ['values'], optional: ['on'] },
  update: { required: ['pk', 'values'], optional: ['ifMatch'] },
  delete: { required: ['pk'], optional: ['ifMatch'] },
  incr: { required: ['pk', 'field'], optional: ['count', 'ifMatch'] }
}

const FILTERED_MEMBERS: Partial<Record<OperationName, Members>> = {
  update: { required: ['values', 'filter', 'maxAffected'], optional: [] },
  delete: { required: ['filter', 'maxAffected'], optional: [] }
}

const COMMON = ['op', 'table']

const isOneOf = (names: readonly string[], name: string) => names.includes(name)

const membersOf = ({ op, filter }: BatchOperation): Members =>
  (filter === undefined ? undefined : FILTERED_MEMBERS[op]) ?? MEMBERS[op]

/** @throws VALIDATION_FAILED for a member that is missing, or that the operation does not have */
export const checkMembers = (input: BatchOperation) => {
  const { op } = input
  const { required, optional } = membersOf(input)
  const isKnown = (name: string) => isOneOf(COMMON, name) || isOneOf(required, name) || isOneOf(optional, name)
  const missing = required.filter((name) => input[name] === undefined)
  const unknown = Object.keys(input).filter((name) => !isKnown(name))
  if (missing.length === 0 && unknown.length === 0) return
  throw invalid([
    ...missing.map((name) => ({ path: pointer(name), code: 'required', message: `'${op}' needs '${name}'.` })),
    ...unknown.slice(0, MAX_DETAILS).map((name) => {
      const message = `'${op}' does not take '${excerpt(name)}' here.`
      return { path: pointer(excerpt(name)), code: 'unknown', message }
    })
  ])
}

const ACTION: Record<OperationName, TableAction> = {
  create: 'create',
  upsert: 'create',
  update: 'update',
  delete: 'delete',
  incr: 'update'
}

/** Returns the actions that the caller needs on the table. */
export const actionsOf = ({ op, filter }: BatchOperation): readonly TableAction[] => [
  ACTION[op],
  ...furtherActionsOf({ isUpsert: op === 'upsert', showsRecords: filter !== undefined })
]
