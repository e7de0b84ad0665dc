import type { TableField } from '../../tables/queries.ts'

/** The field of each column of a file or of the clipboard, by position. null: the column is ignored. */
export type Mapping = readonly (string | null)[]

const fold = (text: string) => text.trim().toLocaleLowerCase()

/** Returns the field that a header names, by its name or its label. */
export const fieldOf = (fields: readonly TableField[], header: string) =>
  fields.find(({ name }) => name === header) ??
  fields.find(({ name, label }) => fold(name) === fold(header) || (label !== '' && fold(label) === fold(header)))

export const mapHeaders = (fields: readonly TableField[], headers: readonly string[]): Mapping =>
  headers.map((header) => fieldOf(fields, header)?.name ?? null)

/** Returns a name that occurs twice. */
export const repeatedName = (names: Mapping) =>
  names.find((name, index) => name !== null && names.indexOf(name) !== index) ?? undefined
