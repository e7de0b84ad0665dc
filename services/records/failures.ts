import type { Caller } from '../model/caller.ts'
import { DomainError, excerpt, invalid, pointer } from '../model/errors.ts'

const quotedNames = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

export const recordNotFound = (pk: string, hint?: string) =>
  new DomainError('RECORD_NOT_FOUND', `There is no record with the primary key '${excerpt(pk)}'.`, { hint })

/** For an update. */
export const UPSERT_HINT = 'To create the record if there is none, send its key, too: POST with `upsert`.'

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

/** For a change of a record whose key an earlier operation returns: after a rollback, its state cannot be read. */
export const changeOfResult = () =>
  new DomainError('RECORD_NOT_FOUND', 'The record that `$result` names does not exist, or the change does not fit it.')

/** `etag`: the tag of the record as it is now; undefined for a caller without the right to read it. */
export const preconditionFailed = (pk: string, etag: string | undefined) =>
  new DomainError('PRECONDITION_FAILED', `The record '${excerpt(pk)}' has changed: If-Match does not have its ETag.`, {
    hint: 'Read the record again. Then send the change again, with the new ETag.',
    etag
  })

/** Depends neither on the tag nor on the record, so that the caller cannot test guesses. */
export const notComparable = () =>
  new DomainError(
    'PRECONDITION_FAILED',
    'If-Match with a tag needs the right to read the record. Nothing was changed.',
    { hint: 'Send the change without If-Match, or with the right to read the record.' }
  )

/** For a tag that the record has before the batch: an earlier operation has changed the record. */
export const tagChangedInBatch = () =>
  new DomainError(
    'PRECONDITION_FAILED',
    'An earlier operation of the batch changes the record, so `ifMatch` does not match.',
    {
      hint: 'Send `ifMatch` with the first operation on the record.'
    }
  )

/** For a change of a record that an earlier operation of the batch has deleted or changed. */
export const changedInBatch = () =>
  new DomainError(
    'RECORD_NOT_FOUND',
    'An earlier operation of the batch deletes the record, or changes it so that this change does not fit it.'
  )

export const rowNotAllowed = () =>
  new DomainError('ROW_NOT_ALLOWED', 'The role does not permit a record with these values. Nothing was changed.', {
    hint: 'An administrator can change the role: PUT /admin/roles/:id.'
  })

export const ignoredByTrigger = () =>
  new DomainError('REFUSED_BY_TRIGGER', 'A trigger of the database ignored the change.')

export const deletedByTrigger = () =>
  new DomainError(
    'REFUSED_BY_TRIGGER',
    'A trigger of the database deletes the record or changes its key. Nothing was changed.'
  )

export const valueTaken = () =>
  new DomainError('UNIQUE_VIOLATION', 'A value that must be unique is taken, or a trigger ignored the new record.')

/** For an update. */
export const otherHasValue = () => new DomainError('UNIQUE_VIOLATION', 'A value that must be unique is taken.')

/** The change matched no row, but would succeed now. */
export const changedConcurrently = () =>
  new DomainError('CONSTRAINT_VIOLATION', 'Another request changed the record at the same time. Nothing was changed.', {
    hint: 'Read the record and send the change again.'
  })

export const notANumber = (field: string) =>
  new DomainError('INCREMENT_OVERFLOW', `The field '${field}' of this record holds no number. Nothing was changed.`)

export const overflow = (field: string) =>
  new DomainError('INCREMENT_OVERFLOW', `The sum does not fit the field '${field}'. Nothing was changed.`)

/** `pk`: null if an earlier operation of the batch returns it. */
export const stillReferenced = (pk: string | null) =>
  new DomainError(
    'FOREIGN_KEY_VIOLATION',
    `The record${pk === null ? '' : ` '${excerpt(pk)}'`} cannot be deleted: other records reference it.`,
    { hint: 'Delete those records first, or change their reference.' }
  )

export const ambiguousKey = (pk: string) =>
  new DomainError('STRUCTURE_CHANGED', `Two records have the primary key '${excerpt(pk)}', with different types.`, {
    hint: 'If one of the keys is a number, include the key field in the body, as a number or as text.'
  })

/** `fields`: those that identify the record of an upsert that may only create. */
export const alreadyExists = (fields: readonly string[]) =>
  new DomainError('PRECONDITION_FAILED', `A record with this ${quotedNames(fields)} exists. Nothing was changed.`, {
    hint: 'To update it, send the request without the header If-None-Match.'
  })

/** `fields`: those of the primary key, in an upsert by another unique index. */
export const otherKeyExists = (fields: readonly string[]) => {
  const message = `The record exists with another ${quotedNames(fields)}, which is the key and cannot change.`
  return invalid(
    fields.map((name) => ({ path: pointer(name), code: 'readonly', message })),
    'Leave the key out, or send its stored value.'
  )
}

export const tooManyAffected = (maxAffected: number) =>
  new DomainError('TOO_MANY_AFFECTED', `The filter matches more than ${maxAffected} records. Nothing was changed.`, {
    hint: 'Narrow the filter, or send a larger `maxAffected`.'
  })

/** `rows`: those that were counted; null if the caller may not know. `fields`: of an index that would help; null if none would. */
export const filterNotIndexed = (table: string, rows: number | null, fields: readonly string[] | null) =>
  new DomainError(
    'FILTER_NOT_INDEXED',
    `No index serves the filter, and the table '${table}' has ${rows === null ? 'many' : `at least ${rows}`} records. Other writes would have to wait until all of them are read.`,
    {
      hint:
        fields === null
          ? 'Query the records and change them by their keys, or add a condition on a field with an index.'
          : `Create an index on ${quotedNames(fields)}, or query the records and change them by their keys.`
    }
  )

/** The foreign key of a child that no index serves. */
interface UnindexedReference {
  readonly table: string
  readonly child: string
  readonly fields: readonly string[]
  /** Those of the child that were counted. */
  readonly rows: number
}

/** A token gets the names only if it may know them. */
export const referenceNotIndexed = (
  { kind, role, mayRead }: Caller,
  { table, child, fields, rows }: UnindexedReference
) => {
  const isKnown = kind !== 'token' || (mayRead(table) && mayRead(child))
  const names = kind === 'token' ? 'its foreign key' : quotedNames(fields)
  const readBy = isKnown ? `the table '${child}', which refers to '${table}'` : 'a table that refers to the records'
  const index = isKnown ? `an index on ${names} of '${child}'` : 'an index on the foreign key of that table'
  return new DomainError(
    'REFERENCE_NOT_INDEXED',
    `No index serves ${readBy}. Other writes would have to wait until its ${role ? '' : `${rows} `}records are read for each record.`,
    { hint: `Create ${index}.` }
  )
}

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
