import type { Table, TableField } from '../../tables/queries.ts'
import { parseDraft } from '../fields/draft.ts'
import { kindOf } from '../fields/kind.ts'
import type { Row } from '../keys.ts'
import { parseDelimited } from './delimited.ts'
import { fieldOf, type Mapping, mapHeaders } from './mapping.ts'

/** The cells that were pasted. */
export interface Pasted {
  readonly cells: readonly (readonly string[])[]
  /** Whether the first row names the fields. */
  readonly hasHeader: boolean
}

/** Fields that a new record can have. */
export const settableFields = ({ fields }: Table) => fields.filter(({ isReadonly }) => !isReadonly)

export const readPasted = (table: Table, text: string): Pasted => {
  const cells = parseDelimited(text, '\t')
  const [first = []] = cells
  return { cells, hasHeader: cells.length > 1 && first.every((name) => fieldOf(settableFields(table), name)) }
}

/** By position: the fields in their order. A key that SQLite generates is left out if there is no column for it. */
const byPosition = (table: Table, width: number): Mapping => {
  const fields = settableFields(table)
  const isGenerated = ({ isPrimary, isRequired }: TableField) => isPrimary && !isRequired
  const used = width < fields.length ? fields.filter((field) => !isGenerated(field)) : fields
  return Array.from({ length: width }, (_, index) => used[index]?.name ?? null)
}

export const mapPasted = (table: Table, { cells, hasHeader }: Pasted): Mapping => {
  const [first = []] = cells
  const width = cells.reduce((most, { length }) => Math.max(most, length), 0)
  return hasHeader ? mapHeaders(settableFields(table), first) : byPosition(table, width)
}

const BOOLEANS: Readonly<Record<string, string>> = { true: 'true', '1': 'true', false: 'false', '0': 'false' }

/** A spreadsheet writes TRUE, and has no NULL: an empty cell is NULL, otherwise empty text, otherwise the default. */
const draftOf = (field: TableField, cell: string) => {
  if (cell === '') {
    if (field.isNullable) return null
    return kindOf(field) === 'text' ? '' : undefined
  }
  return kindOf(field) === 'boolean' ? (BOOLEANS[cell.toLowerCase()] ?? cell) : cell
}

export interface PastedRow {
  /** Its number in the clipboard, counted from 1. */
  readonly number: number
  readonly cells: readonly string[]
  readonly values: Row
  /** What is wrong, by the index of the column. */
  readonly errors: ReadonlyMap<number, string>
}

const toRow = (fields: readonly (TableField | undefined)[], cells: readonly string[], number: number): PastedRow => {
  const values: Record<string, unknown> = {}
  const errors = new Map<number, string>()
  for (const [index, field] of fields.entries()) {
    const draft = field && draftOf(field, cells[index] ?? '')
    if (!field || draft === undefined) continue
    const parsed = parseDraft(field, draft)
    if ('error' in parsed) errors.set(index, parsed.error)
    else values[field.name] = parsed.value
  }
  return { number, cells, values, errors }
}

/** Returns the records that the cells become. */
export const toRows = (table: Table, { cells, hasHeader }: Pasted, mapping: Mapping): readonly PastedRow[] => {
  const fields = mapping.map((name) => table.fields.find((field) => field.name === name))
  const start = hasHeader ? 1 : 0
  return cells.slice(start).map((row, index) => toRow(fields, row, index + start + 1))
}
