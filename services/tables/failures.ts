import { suggestName } from '../../schemas/similar-names.ts'
import type { NamingToken } from '../../schemas/table.ts'
import type { BrokenObject } from '../engine/reader/compilation.ts'
import { DomainError, excerpt } from '../model/errors.ts'
import type { Unreplicable } from '../model/table.ts'

/** SQLite's advice for a name in double quotes that it does not know. A text instead of the name would be a constant. */
const STRING_ADVICE = / - should this be a string literal in single-quotes\?$/

export const tableUnusable = (name: string) =>
  new DomainError(
    'TABLE_UNUSABLE',
    `The registration of the table '${name}' cannot be read. Unregister it, then import it again.`,
    { hint: 'DELETE /admin/tables/:id?confirm=true, then POST /admin/tables/import. The rows stay in the database.' }
  )

/** For a stored table that was dropped or has another key, and for a broken view. */
export const tableOutdated = (name: string) =>
  new DomainError(
    'STRUCTURE_CHANGED',
    `The stored table '${name}' does not exist, cannot be read, or does not have the registered key.`,
    {
      hint: 'Refresh the table: POST /admin/tables/:id/refresh.'
    }
  )

export const storedTableGone = (name: string) =>
  new DomainError('STRUCTURE_CHANGED', `The stored table '${name}' does not exist any more.`, {
    hint: 'Unregister the table: DELETE /admin/tables/:id?confirm=true.'
  })

export const notImportable = (message: string) => new DomainError('TABLE_NOT_IMPORTABLE', message)

export const tableRegistered = (name: string) =>
  new DomainError('TABLE_REGISTERED', `The table '${name}' is already registered.`, {
    hint: 'GET /admin/tables lists it. If the stored table does not exist any more, unregister the table first.'
  })

/** `type`: what the database has under the name now. */
export const otherKind = (name: string, type: 'table' | 'view') =>
  notImportable(`'${name}' is a ${type} now. Unregister it, then import it again.`)

export const viewReadOnly = (name: string) =>
  new DomainError('TABLE_READ_ONLY', `'${name}' is a view, which can only be read.`, {
    hint: 'Change the records of the tables that the view reads.'
  })

/** `records`: the number of records that have the values. The values are SQL literals. */
export const keyNotUnique = (name: string, records: number, values: string) => {
  const message = records > 1 ? `${records} records have ${values}.` : `A record has ${values}. A key must not be NULL.`
  return new DomainError('UNIQUE_VIOLATION', `The key does not identify each record of the view '${name}'.`, {
    details: [{ path: '/primaryKey', code: 'unique', message }],
    hint: 'Name other columns, or import the view without `primaryKey`.'
  })
}

const IMPORT_HINT = 'import it: POST /admin/tables/import.'
const TAKEN_HINT: Record<string, string> = {
  table: `To serve an existing table that is not registered, ${IMPORT_HINT}`,
  view: `To serve an existing view that is not registered, ${IMPORT_HINT}`
}

/** `type`: what has the name, as in SQLite's schema: table, index or view. */
export const nameTaken = (name: string, type: string) =>
  new DomainError('TABLE_EXISTS', `The name '${name}' is already used in the database (${type}).`, {
    hint: TAKEN_HINT[type] ?? 'Choose another name.'
  })

/** Does not name the other table: a token that creates a table may not know it. */
export const pathTaken = (name: string) =>
  new DomainError('TABLE_EXISTS', `'${name}' is the name of another table in paths: its \`clientName\`.`, {
    hint: 'Choose another name. An administrator can change the `clientName` of the other table.'
  })

/** For a table of a cluster. */
export const notReplicable = (name: string, { subject, cause, remedy }: Unreplicable) =>
  new DomainError(
    'NOT_REPLICABLE',
    `'${name}' can only be read, because the nodes of the cluster would store different values: ${subject}: ${cause}.`,
    { hint: remedy }
  )

export const fieldExists = (name: string) =>
  new DomainError('FIELD_EXISTS', `The table already has a field named '${name}'.`)

/** For a token: the same for a field that it can see, for one that it cannot see, and for a reserved name. */
export const fieldNameTaken = (name: string) =>
  new DomainError('FIELD_EXISTS', `The name '${name}' is taken or reserved.`, { hint: 'Choose another name.' })

/** For a unique field that is added with a default, to a table with several rows. */
export const sameDefault = (name: string) => {
  const message = `'${name}' cannot be unique: the existing records would all have its default.`
  return new DomainError('UNIQUE_VIOLATION', message, {
    details: [{ path: '/field/defaultValue', code: 'unique', message }],
    hint: 'Add the field without a default.'
  })
}

export const tableKeepsChanging = () =>
  new DomainError('TABLE_CHANGED', 'The table, or a right to it, keeps changing. Try again.')

export const fieldNotFound = (name: string, names: readonly string[]) =>
  new DomainError('FIELD_NOT_FOUND', `The table has no field '${excerpt(name)}'.`, { hint: suggestName(name, names) })

/** For a column, or its table, that another program has dropped. */
export const storedFieldGone = (table: string, name: string) =>
  new DomainError('STRUCTURE_CHANGED', `The stored table '${table}' does not have the field '${name}' any more.`, {
    hint: 'Refresh the table: POST /admin/tables/:id/refresh.'
  })

export const structureInUse = (message: string, hint?: string) => new DomainError('STRUCTURE_IN_USE', message, { hint })

/** @throws STRUCTURE_IN_USE if there are roles that need the table or field */
export const assertNotNeeded = (roles: readonly string[], name: string) => {
  if (roles.length === 0) return
  const quoted = roles.map((role) => `'${excerpt(role)}'`).join(', ')
  throw structureInUse(`Roles need '${name}': ${quoted}.`, 'Change the grants first: PUT /admin/roles/:id.')
}

/** Roles and tokens in the details of an error, or in warnings. */
const MAX_NAMING = 20

/** Returns a sentence for each role and token that names a table, at most 20 and one about the others. */
const namingSentences = (roles: readonly string[], tokens: readonly NamingToken[], rest: string): readonly string[] => {
  const naming = [
    ...roles.map((role) => `The role '${excerpt(role)}'`),
    ...tokens.map(({ id, name }) => `The token '${excerpt(name)}' (id ${id})`)
  ]
  const others = naming.length - MAX_NAMING
  return [
    ...naming.slice(0, MAX_NAMING).map((one) => `${one} ${rest}`),
    ...(others > 0 ? [`So do ${others} more roles and tokens.`] : [])
  ]
}

const atName = (sentences: readonly string[]) =>
  sentences.map((message) => ({ path: '/name', code: 'conflict', message }))

/** For a new name that grants or permissions use already: they were set for another table. */
export const nameGranted = (name: string, roles: readonly string[], tokens: readonly NamingToken[]) => {
  const message = `Grants or permissions name a table '${name}' already. After the rename they would apply to this table.`
  return new DomainError('RIGHTS_CONFLICT', message, {
    details: atName(namingSentences(roles, tokens, `names '${name}'.`)),
    hint: `Choose another name, or remove '${name}' from these grants (PUT /admin/roles/:id) and permissions (PUT /admin/tokens/:id) first.`
  })
}

/** Returns a sentence for each role and token that names a table which was just created or adopted. */
export const grantedWarnings = (roles: readonly string[], tokens: readonly NamingToken[]) =>
  namingSentences(roles, tokens, 'names this table already, so it opens the table from now on.')

/**
 * For a new name of a field. `roles`: those whose grants on the table name it already: they were set for another field.
 * @throws RIGHTS_CONFLICT if there is one
 */
export const assertFieldUngranted = (table: { readonly name: string }, field: string, roles: readonly string[]) => {
  if (roles.length === 0) return
  const message = `Grants on '${table.name}' name a field '${excerpt(field)}' already. After the rename they would apply to this field.`
  throw new DomainError('RIGHTS_CONFLICT', message, {
    details: atName(namingSentences(roles, [], `names '${excerpt(field)}'.`)),
    hint: 'Choose another name, or change the grants first: PUT /admin/roles/:id.'
  })
}

/** Objects in a message. The details have all of them. */
const MAX_NAMED = 5

/** For a token, which may not know the declarations of other tables. */
export const wouldBreakOthers = () =>
  new DomainError('STRUCTURE_IN_USE', 'The change would break a view or a trigger of the database.', {
    hint: 'An administrator who makes this change gets the names.'
  })

/** For declarations that SQLite could not compile after the change. */
export const wouldBreak = (objects: readonly BrokenObject[]) => {
  const named = objects.slice(0, MAX_NAMED).map(({ type, name }) => `the ${type} '${name}'`)
  const more = objects.length > MAX_NAMED ? ` and ${objects.length - MAX_NAMED} more` : ''
  return new DomainError('STRUCTURE_IN_USE', `The change would break ${named.join(', ')}${more}.`, {
    details: objects.map(({ type, name, reason }) => ({
      path: '',
      code: 'in-use',
      message: `The ${type} '${name}' cannot be compiled after the change: ${reason.replace(STRING_ADVICE, '')}.`
    })),
    hint: 'Change or drop these first, with the program that created them.'
  })
}

/** `example`: a sentence about a record; undefined if none was found. */
export const valuesDoNotFit = (field: string, path: string, example?: string) =>
  new DomainError('VALUES_DO_NOT_FIT', example ?? `Stored values of '${field}' do not fit the new definition.`, {
    details: example === undefined ? [] : [{ path, code: 'value', message: example }],
    hint: 'Change or delete these records first.'
  })

export const tableTooLarge = (name: string, rows: number, limit: string) =>
  new DomainError(
    'TABLE_TOO_LARGE',
    `The change rewrites '${name}', which has ${rows} rows. Other writes would wait for more than about a second.`,
    { hint: `A table can be rewritten with ${limit}. Stop the service and use another program for this change.` }
  )

const rowCount = (name: string, rows: number | null) =>
  rows === null
    ? `The rows of '${name}' cannot be counted.`
    : `The table '${name}' has ${rows} ${rows === 1 ? 'row' : 'rows'}.`

/** `rows`: null if they cannot be counted. `loss`: what the request deletes. */
export const lossNotConfirmed = (name: string, rows: number | null, loss: string) =>
  new DomainError('CONFIRMATION_REQUIRED', `${rowCount(name, rows)} ${loss}`, {
    hint: 'To confirm it, send the request with ?confirm=true.'
  })

/** `rows`: null if they cannot be counted. */
export const confirmationRequired = (name: string, rows: number | null) => {
  const after = rows === null ? 'If the table still exists, it can be imported again.' : 'It can be imported again.'
  return new DomainError(
    'CONFIRMATION_REQUIRED',
    `${rowCount(name, rows)} Unregistering keeps the rows in the database, but the API will no longer serve them.`,
    { hint: `To unregister the table, send the request with ?confirm=true. ${after}` }
  )
}

/** `owner`: the table or field that has the name. */
export const clientNameTaken = (path: string, clientName: string, owner: string) => {
  const message = `'${clientName}', or a name that clients derive from it, belongs to ${owner}. Choose another name.`
  return new DomainError('UNIQUE_VIOLATION', message, { details: [{ path, code: 'unique', message }] })
}
