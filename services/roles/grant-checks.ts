import type { Grant } from '../../schemas/role.ts'
import { actions as allActions } from '../../schemas/token-action.ts'
import { invalid } from '../model/errors.ts'
import { isJsonObject } from '../model/json-object.ts'
import { findRepeatedGrants, repeatedGrantMessage } from '../model/repeated-grants.ts'
import { checkRule } from './rule-form.ts'

/** @throws VALIDATION_FAILED for the action `write`, which would include the structure of tables */
const assertSingleActions = (grants: readonly Grant[]) => {
  const index = grants.findIndex(({ actions }) => actions.includes('write'))
  if (index === -1) return
  const message = "A grant lists 'create', 'update', 'delete' and 'schema' one by one, instead of 'write'."
  throw invalid([{ path: `/grants/${index}/actions`, code: 'unknown', message }])
}

/** @throws VALIDATION_FAILED for presets of a grant that creates nothing */
const assertPresetsUsed = (grants: readonly Grant[]) => {
  const index = grants.findIndex(({ actions, presets }) => presets && !actions.includes('create'))
  if (index === -1) return
  const message = "'presets' need the action 'create'."
  throw invalid([{ path: `/grants/${index}/presets`, code: 'conflict', message }])
}

/** @throws VALIDATION_FAILED for two grants of the same table and action */
const assertDistinct = (grants: readonly Grant[]) => {
  const [repeated] = findRepeatedGrants(grants)
  if (!repeated) return
  const violation = {
    path: `/grants/${repeated.index}/tables`,
    code: 'conflict',
    message: repeatedGrantMessage(repeated)
  }
  throw invalid([violation], 'Join the grants, or split the tables.')
}

/** @throws VALIDATION_FAILED */
const checkEach = (grants: readonly Grant[]) => {
  for (const [index, { rows }] of grants.entries()) if (rows) checkRule(`/grants/${index}/rows`, rows)
  assertSingleActions(grants)
  assertPresetsUsed(grants)
}

/** Checks grants of the form of their schema. @throws VALIDATION_FAILED */
export const checkGrants = (grants: readonly Grant[]) => {
  checkEach(grants)
  assertDistinct(grants)
}

const isListOf = (value: unknown, isItem: (item: unknown) => boolean) => Array.isArray(value) && value.every(isItem)
const isText = (value: unknown) => typeof value === 'string'
const isAction = (value: unknown) => allActions.some((action) => action === value)
const isOptional = (value: unknown, isValue: (value: unknown) => boolean) => value === undefined || isValue(value)

const isFields = (value: unknown) =>
  isJsonObject(value) &&
  Object.entries(value).every(([name, list]) => ['read', 'write'].includes(name) && isListOf(list, isText))

/** Whether a value of another program has the form of the schema. */
const isGrant = (value: unknown): value is Grant => {
  if (!isJsonObject(value)) return false
  const { tables, actions, rows, fields, presets, ...others } = value
  const isPart = [isOptional(rows, isJsonObject), isOptional(fields, isFields), isOptional(presets, isJsonObject)]
  return (
    isListOf(tables, isText) &&
    isListOf(actions, isAction) &&
    !isPart.includes(false) &&
    Object.keys(others).length === 0
  )
}

/** The grants of a role as the database has them. */
export interface StoredGrants {
  readonly grants: readonly Grant[]
  /** Why some or all of them open nothing, as sentences for administrators. */
  readonly problems: readonly string[]
}

const INVALID: StoredGrants = {
  grants: [],
  problems: ['The stored grants are not valid, so the role opens nothing. Send valid grants.']
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns stored grants, which another program may have written. Checks their form and their rules, not the limits of the schema.
 * Of two grants for one table and action, neither opens the table: see `indexGrants`. Grants that fail a check open nothing.
 */
export const readStoredGrants = (text: string): StoredGrants => {
  const grants = parse(text)
  if (!Array.isArray(grants) || !grants.every(isGrant)) return INVALID
  try {
    checkEach(grants)
  } catch {
    return INVALID
  }
  return { grants, problems: findRepeatedGrants(grants).map((one) => `${repeatedGrantMessage(one)} Neither opens it.`) }
}
