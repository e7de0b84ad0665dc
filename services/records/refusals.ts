import { DomainError, excerpt, invalid } from '../model/errors.ts'

export const refusedByTrigger = () =>
  new DomainError('REFUSED_BY_TRIGGER', 'A trigger of the database ignored the change.')

export const lostToTrigger = () =>
  new DomainError(
    'REFUSED_BY_TRIGGER',
    'A trigger of the database deletes the new record, or changes its key. Nothing was stored.'
  )

export const refusedByConstraint = () =>
  new DomainError(
    'CONSTRAINT_VIOLATION',
    'A constraint of the table ignored the change: it is declared ON CONFLICT IGNORE.'
  )

export const noNumber = (name: string) =>
  new DomainError('INCREMENT_OVERFLOW', `'${name}' of this record holds no number. It stays as it was.`)

export const overflow = (name: string) =>
  new DomainError('INCREMENT_OVERFLOW', `The sum does not fit '${name}'. It stays as it was.`)

export const stillReferredTo = (pk: string) =>
  new DomainError(
    'FOREIGN_KEY_VIOLATION',
    `Other records refer to the record '${excerpt(pk)}', so it cannot be deleted.`,
    {
      hint: 'Delete them first, or let them refer to another one.'
    }
  )

export const ambiguousKey = (pk: string) =>
  new DomainError('STRUCTURE_CHANGED', `Two records have keys of different types that are spelled '${excerpt(pk)}'.`, {
    hint: 'Where one of them is a number, send the key field along, as a number or as text, to say which is meant.'
  })

export const roundedKey = () =>
  invalid(
    [{ path: '/pk', code: 'range', message: "'pk' is beyond what a JSON number holds exactly." }],
    'Send it as a string.'
  )
