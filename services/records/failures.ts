import { DomainError, excerpt, invalid } from '../model/errors.ts'

export const recordNotFound = (pk: string) =>
  new DomainError('RECORD_NOT_FOUND', `There is no record with the primary key '${excerpt(pk)}'.`)

/** `length`: the number of fields of the table's key. */
export const wrongKeyLength = (pk: string, length: number) =>
  new DomainError(
    'RECORD_NOT_FOUND',
    `There is no such record: the primary key has ${length} parts, but '${excerpt(pk)}' has ${pk.split(',').length}.`,
    { hint: 'Percent-encode each part, and join the parts with commas.' }
  )

/** `view`: the name of an SQL view without a key. */
export const withoutKey = (view: string) =>
  new DomainError('RECORD_NOT_FOUND', `The view '${view}' has no key, so its records cannot be read one by one.`, {
    hint: 'Read its pages. An administrator can import the view again, with `primaryKey`.'
  })

export const ignoredByTrigger = () =>
  new DomainError('REFUSED_BY_TRIGGER', 'A trigger of the database ignored the change.')

export const deletedByTrigger = () =>
  new DomainError(
    'REFUSED_BY_TRIGGER',
    'A trigger of the database deletes the record or changes its key. Nothing was changed.'
  )

export const conflictIgnored = () =>
  new DomainError(
    'CONSTRAINT_VIOLATION',
    'A constraint of the table ignored the change: it is declared ON CONFLICT IGNORE.'
  )

export const notANumber = (field: string) =>
  new DomainError('INCREMENT_OVERFLOW', `The field '${field}' of this record holds no number. Nothing was changed.`)

export const overflow = (field: string) =>
  new DomainError('INCREMENT_OVERFLOW', `The sum does not fit the field '${field}'. Nothing was changed.`)

export const stillReferenced = (pk: string) =>
  new DomainError(
    'FOREIGN_KEY_VIOLATION',
    `The record '${excerpt(pk)}' cannot be deleted: other records reference it.`,
    { hint: 'Delete those records first, or change their reference.' }
  )

export const ambiguousKey = (pk: string) =>
  new DomainError('STRUCTURE_CHANGED', `Two records have the primary key '${excerpt(pk)}', with different types.`, {
    hint: 'If one of the keys is a number, include the key field in the body, as a number or as text.'
  })

export const hiddenFieldsRequired = () =>
  new DomainError('CONSTRAINT_VIOLATION', 'The table requires fields that are hidden from tokens.', {
    hint: 'An administrator can show these fields, give them a default, or create the record.'
  })

export const roundedKey = () =>
  invalid(
    [
      {
        path: '/pk',
        code: 'range',
        message: "'pk' is an integer beyond ±(2^53−1), which a JSON number cannot hold exactly."
      }
    ],
    'Send it as a string.'
  )
