import { DomainError } from '../model/errors.ts'

export const tableUnusable = (name: string) =>
  new DomainError(
    'TABLE_UNUSABLE',
    `The registry cannot read the settings of the table '${name}'. Unregister it, then import it again.`,
    { hint: 'DELETE /admin/tables/:id?confirm=true, then POST /admin/tables/import. The rows stay.' }
  )

/** The stored table is gone, is not an ordinary table, or has another key. */
export const tableOutdated = (name: string) =>
  new DomainError('STRUCTURE_CHANGED', `SQLite has no table '${name}' with the registered key.`, {
    hint: 'Refresh the table: POST /admin/tables/:id/refresh.'
  })

export const storedTableGone = (name: string) =>
  new DomainError('STRUCTURE_CHANGED', `The stored table '${name}' is gone.`, {
    hint: 'Unregister it: DELETE /admin/tables/:id?confirm=true.'
  })

export const notImportable = (message: string) => new DomainError('TABLE_NOT_IMPORTABLE', message)

export const tableRegistered = (name: string) =>
  new DomainError('TABLE_REGISTERED', `'${name}' is registered already.`, {
    hint: 'GET /admin/tables lists it. If its stored table is gone, unregister it first.'
  })

const TAKEN_HINT: Record<string, string> = {
  table: 'To serve an existing table that is not registered, import it: POST /admin/tables/import.'
}

/** `type`: of the object that has the name, as SQLite's schema names it. */
export const nameTaken = (name: string, type: string) =>
  new DomainError('TABLE_EXISTS', `The database has a ${type} '${name}' already.`, {
    hint: TAKEN_HINT[type] ?? 'Choose another name.'
  })

export const fieldExists = (name: string) => new DomainError('FIELD_EXISTS', `The table has a field '${name}' already.`)

export const tableChanged = () =>
  new DomainError('TABLE_CHANGED', 'Other requests keep changing the table. Send the request again.')

export const confirmationRequired = (name: string, state: string, afterwards: string) =>
  new DomainError('CONFIRMATION_REQUIRED', `'${name}' ${state} in the database, but can no longer be reached.`, {
    hint: `To unregister the table, repeat the call with ?confirm=true. ${afterwards}`
  })
