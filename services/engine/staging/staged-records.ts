import type { IntegerFormat } from '../../../schemas/token.ts'
import { excerpt } from '../../model/errors.ts'
import { findViolation, stringViolation } from '../../model/json-violations.ts'
import { unescapeFormula } from '../../model/kinds/csv-cells.ts'
import type { Checked, CsvCell } from '../../model/kinds/kind.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import { isExactReal } from '../../model/literals.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { MAX_KEY_LENGTH } from '../../sql/keys.ts'
import { createErrorList, type ImportError, UnreadableFile, unknownName } from './import-errors.ts'
import type { ImportField, StagingThreadOptions } from './protocol.ts'
import type { RecordInserts } from './record-inserts.ts'
import type { StagedTable } from './staged-table.ts'

/** A name in the file with its field. null: the values are ignored. */
interface NamedField {
  readonly name: string
  readonly field: ImportField | null
}

const NULL_VIOLATION = { violation: { code: 'required', message: 'must not be null' } }

const LOST_DIGITS = {
  violation: {
    code: 'digits',
    message: 'has a digit that a number would not keep. Create the table with a string field'
  }
}

const checkNull = ({ mayBeNull }: ImportField): Checked => (mayBeNull ? { value: null } : NULL_VIOLATION)

const checkStored = ({ column }: ImportField, checked: Checked): Checked => {
  if ('violation' in checked || typeof checked.value !== 'string') return checked
  const violation = stringViolation(checked.value)
  if (violation) return { violation }
  const isTooLong = column.isPrimary && checked.value.length > MAX_KEY_LENGTH
  return isTooLong
    ? { violation: { code: 'length', message: `must have at most ${MAX_KEY_LENGTH} characters` } }
    : checked
}

type WriteRecord = (line: number, check: (index: number, field: ImportField) => Checked) => void

/** Sets of keys whose writers are kept. */
const MAX_WRITERS = 100

const byName = (entries: readonly ImportField[]) => new Map(entries.map((field) => [field.column.name, field]))

/** Checks the records of a file and stores them. Collects what is wrong, by line. */
export const createStagedRecords = (options: StagingThreadOptions, table: StagedTable) => {
  const { names, required, fallbacks, format, keepsDigits, hasFixedFields } = options
  const fields = byName(options.fields)
  const errors = createErrorList()
  const seen = new Set<string>()
  const unseenNames = new Set(Object.keys(names))

  /** Inserts whose last records may not be stored yet. */
  let current: RecordInserts | undefined

  /** Stores the records that have been read. */
  const flush = () => current?.flush()

  /** The records before the error are stored first: they may have errors, too. */
  const add = (error: ImportError) => {
    flush()
    errors.add(error)
  }
  const addError = (line: number, column: string | null, code: string, message: string) =>
    add({ line, column, code, message })
  const addViolation = (line: number, name: string, { code, message }: { code: string; message: string }) =>
    addError(line, name, code, `'${excerpt(name)}' ${message}.`)

  /** Returns the field of a name in the file, or why there is none. */
  const findField = (name: string): NamedField | string => {
    const target = Object.hasOwn(names, name) ? (names[name] as string | null) : name
    if (target === null) return { name, field: null }
    const field = fields.get(target)
    if (!field) return unknownName(format.type, name)
    if (field.refusal !== null) return `${field.refusal}. Map it to null in \`map\`, so that the import ignores it`
    return { name, field: field.isComputed ? null : field }
  }

  /** Returns the fields of the names. Adds an error for each name without one. */
  const findFields = (line: number, found: readonly string[]): readonly NamedField[] | null => {
    const before = errors.get().total
    const targets = new Set<string>()
    const named: NamedField[] = []
    for (const name of found) {
      unseenNames.delete(name)
      const field = findField(name)
      if (typeof field === 'string') {
        addViolation(line, name, { code: 'unknown', message: field })
        continue
      }
      const target = field.field?.column.name
      if (target !== undefined && targets.has(target))
        addViolation(line, name, { code: 'duplicate', message: 'names a field that another column has, too' })
      if (target !== undefined) targets.add(target)
      named.push(field)
    }
    for (const name of required.filter((one) => !targets.has(one)))
      addViolation(line, name, { code: 'required', message: 'is a required field, which the file does not have' })
    return errors.get().total > before ? null : named
  }

  /** Adds an error for each name of `map` that the file does not have: a typing error would let the field be stored. */
  const checkUnseenNames = (line: number) => {
    for (const name of unseenNames)
      addViolation(line, name, { code: 'unknown', message: 'is in `map`, but the file does not have it' })
  }

  /** Returns the function that stores a record with these fields. It gets the value of each. */
  const writerOf = (named: readonly NamedField[]): WriteRecord => {
    const columns = named.flatMap(({ field }) => (field ? [field.column.name] : []))
    const missing = fallbacks.filter(([name]) => !columns.includes(name))
    for (const name of columns) seen.add(name)
    const nameOf = (column: string) => named.find(({ field }) => field?.column.name === column)?.name ?? column
    const fallbackValues = missing.map(([, value]) => value)
    const inserts = table.insertsOf([...columns, ...missing.map(([name]) => name)], (line, refusal) => {
      const { column, code, message } = refusal
      if (column === null) addError(line, null, code, message)
      else addViolation(line, nameOf(column), { code, message })
    })

    return (line: number, check: (index: number, field: ImportField) => Checked) => {
      const values: SqlValue[] = []
      let hasViolation = false
      for (let index = 0; index < named.length; index += 1) {
        const { field, name } = named[index] as NamedField
        if (!field) continue
        const checked = checkStored(field, check(index, field))
        if ('violation' in checked) {
          addViolation(line, name, checked.violation)
          hasViolation = true
        } else values.push(checked.value)
      }
      if (hasViolation) return
      values.push(...fallbackValues)
      if (current !== inserts) flush()
      current = inserts
      inserts.add(line, values)
    }
  }

  /** Ends the reading: the errors have been added. */
  const stop = (line: number) =>
    new UnreadableFile({ line, column: null, code: 'fields', message: 'The names of the fields are wrong.' })

  const readText = format.type === 'csv' && format.unescapesFormulas ? unescapeFormula : (text: string) => text

  const checkCell = (field: ImportField, { text, isQuoted }: CsvCell): Checked => {
    if (text === '' && !isQuoted) return checkNull(field)
    const { column } = field
    const cell = { text: readText(text), isQuoted }
    const checked = kindOf(column).parseCell(cell, column)
    const losesDigits = keepsDigits && column.jsonType === 'number' && 'value' in checked && !isExactReal(cell.text)
    return losesDigits ? LOST_DIGITS : checked
  }

  const createCellsReader = () => {
    let width = 0
    let write: WriteRecord | undefined
    const readHeader = (line: number, cells: readonly CsvCell[]) => {
      const named = findFields(
        line,
        cells.map(({ text }) => readText(text))
      )
      checkUnseenNames(line)
      if (!named || unseenNames.size > 0) throw stop(line)
      width = named.length
      write = writerOf(named)
    }
    const read = (line: number, cells: readonly CsvCell[]) => {
      if (!write) return cells.length > 0 ? readHeader(line, cells) : undefined
      // The record of a table with one field may be an empty line, which is NULL. Otherwise such a line is no record.
      if (cells.length === 0 && width > 1) return
      const record = cells.length === 0 ? [{ text: '', isQuoted: false }] : cells
      if (record.length !== width)
        return addError(line, null, 'cells', `The record has ${record.length} cells, but the header has ${width}.`)
      write(line, (index, field) => checkCell(field, record[index] as CsvCell))
    }
    /** A file without a header is a mistake, such as a wrong path. */
    const checkEnd = () => {
      if (!write) addError(1, null, 'required', 'The file is empty. Its first line must have the names of the fields.')
    }
    return { read, checkEnd }
  }

  const checkJson = (field: ImportField, value: unknown, integers: IntegerFormat): Checked => {
    if (value === null) return checkNull(field)
    const violation = findViolation(value)
    return violation ? { violation } : kindOf(field.column).check(value, field.column, integers)
  }

  /** Returns, as text, the fields that every record of the file must have: all fields, or those of the key. */
  const sharedFieldsOf = (columns: readonly string[]) => {
    const isKey = (name: string) => fields.get(name)?.column.isPrimary
    return JSON.stringify([...(hasFixedFields ? columns : columns.filter(isKey))].sort())
  }

  const createObjectReader = (integers: IntegerFormat) => {
    const writers = new Map<string, WriteRecord>()
    let expected: string | undefined
    const writerFor = (line: number, keys: readonly string[]): WriteRecord | null => {
      const shape = JSON.stringify(keys)
      const known = writers.get(shape)
      if (known) return known
      const named = findFields(line, keys)
      if (!named) return null
      const shared = sharedFieldsOf(named.flatMap(({ field }) => (field ? [field.column.name] : [])))
      expected ??= shared
      // Before the writer, which adds its fields to those of the file.
      if (shared !== expected) {
        const what = hasFixedFields ? 'fields' : 'key fields'
        addError(line, null, 'fields', `The record must have the same ${what} as the first one.`)
        return null
      }
      const writer = writerOf(named)
      if (writers.size === MAX_WRITERS) writers.clear()
      writers.set(shape, writer)
      return writer
    }
    const read = (line: number, record: Readonly<Record<string, unknown>>) => {
      const keys = Object.keys(record)
      const write = writerFor(line, keys)
      write?.(line, (index, field) => checkJson(field, record[keys[index] as string], integers))
    }
    /** A file without records has no names. */
    const checkEnd = () => {
      if (writers.size > 0) checkUnseenNames(1)
    }
    return { read, checkEnd }
  }

  return {
    addError: add,
    flush,
    errors: errors.get,
    /** The fields of the records so far. */
    fields: (): readonly string[] => [...seen],
    createCellsReader,
    createObjectReader
  }
}
