import type { Draft } from '../fields/draft.ts'

/** What a user has entered in a cell, and what is not saved yet. */
export interface Unsaved {
  /** The content of the editor. */
  readonly draft: Exclude<Draft, undefined>
  /** Why it could not be saved. Left out: it is being saved. */
  readonly error?: string
}

/** The unsaved cells of the grid, by key and field. */
export type UnsavedCells = ReadonlyMap<string, ReadonlyMap<string, Unsaved>>

/** Sets or removes what is unsaved of one cell. */
export const withUnsaved = (cells: UnsavedCells, pk: string, field: string, unsaved: Unsaved | null): UnsavedCells => {
  const ofRecord = new Map(cells.get(pk))
  if (unsaved) ofRecord.set(field, unsaved)
  else ofRecord.delete(field)
  const next = new Map(cells)
  if (ofRecord.size > 0) next.set(pk, ofRecord)
  else next.delete(pk)
  return next
}
