import type { BatchOperation, OperationName } from '../../../schemas/batch.ts'
import { furtherActionsOf, type TableAction } from '../../model/actions.ts'
import { excerpt, invalid, MAX_DETAILS, pointer } from '../../model/errors.ts'

type Member = Exclude<keyof BatchOperation, 'op' | 'table'>

interface Members {
  readonly required: readonly Member[]
  readonly optional: readonly Member[]
}

interface OperationRules {
  /** The action on the table that the caller needs. */
  readonly action: TableAction
  /** The members of the operation with a key, or for a new record. */
  readonly members: Members
  /** The members of the operation with a filter. */
  readonly filtered?: Members
}

const RULES: Record<OperationName, OperationRules> = {
  create: { action: 'create', members: { required: ['values'], optional: ['onConflict'] } },
  upsert: { action: 'create', members: { required: ['values'], optional: ['on'] } },
  update: {
    action: 'update',
    members: { required: ['pk', 'values'], optional: ['ifMatch'] },
    filtered: { required: ['values', 'filter', 'maxAffected'], optional: [] }
  },
  delete: {
    action: 'delete',
    members: { required: ['pk'], optional: ['ifMatch'] },
    filtered: { required: ['filter', 'maxAffected'], optional: [] }
  },
  incr: { action: 'update', members: { required: ['pk', 'field'], optional: ['count', 'ifMatch'] } }
}

/** Whether the operation changes the record with a key. */
export const takesKey = (op: OperationName) => RULES[op].members.required.includes('pk')

const COMMON = ['op', 'table']

const isOneOf = (names: readonly string[], name: string) => names.includes(name)

const membersOf = ({ op, filter }: BatchOperation): Members => {
  const { members, filtered } = RULES[op]
  return filter !== undefined && filtered ? filtered : members
}

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

/** Returns the actions that the caller needs on the table. */
export const actionsOf = ({ op, filter }: BatchOperation): readonly TableAction[] => [
  RULES[op].action,
  ...furtherActionsOf({ isUpsert: op === 'upsert', showsRecords: filter !== undefined })
]
