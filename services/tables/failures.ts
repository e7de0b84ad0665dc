import { DomainError } from '../model/errors.ts'

export const tableUnusable = (name: string) =>
  new DomainError(
    'TABLE_UNUSABLE',
    `The registration of the table '${name}' cannot be read. Unregister it, then import it again.`,
    { hint: 'DELETE /admin/tables/:id?confirm=true, then POST /admin/tables/import. The rows stay in the database.' }
  )

/** For a stored table that was dropped, has another key, or is a view now. */
export const tableOutdated = (name: string) =>
  new DomainError(
    'STRUCTURE_CHANGED',
    `The stored table '${name}' does not exist, or does not have the registered key.`,
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

const TAKEN_HINT: Record<string, string> = {
  table: 'To serve an existing table that is not registered, import it: POST /admin/tables/import.'
}

/** `type`: what has the name, as in SQLite's schema: table, index or view. */
export const nameTaken = (name: string, type: string) =>
  new DomainError('TABLE_EXISTS', `The name '${name}' is already used in the database (${type}).`, {
    hint: TAKEN_HINT[type] ?? 'Choose another name.'
  })

export const fieldExists = (name: string) =>
  new DomainError('FIELD_EXISTS', `The table already has a field named '${name}'.`)

export const tableChanged = () => new DomainError('TABLE_CHANGED', 'Other requests keep changing the table. Try again.')

export const confirmationRequired = (name: string, state: string, afterwards: string) =>
  new DomainError(
    'CONFIRMATION_REQUIRED',
    `The table '${name}' ${state} in the database, but the API no longer serves them.`,
    {
      hint: `To unregister the table, send the request with ?confirm=true. ${afterwards}`
    }
  )

/** `owner`: the table or field that has the name. */
export const clientNameTaken = (path: string, clientName: string, owner: string) => {
  const message = `'${clientName}', or a name that clients derive from it, belongs to ${owner}. Choose another name.`
  return new DomainError('UNIQUE_VIOLATION', message, { details: [{ path, code: 'unique', message }] })
}
