import type { Draft } from '../fields/draft.ts'

/** A value that was entered in a cell. */
export interface Edit {
  readonly pk: string
  readonly field: string
  readonly draft: string | null
  readonly value: unknown
  /** The values that the cell has shown: the stored one, and those that were being saved. Others are conflicts. */
  readonly shown: readonly unknown[]
}

/** What a user has entered in a cell, and what is not saved yet. */
export interface Unsaved {
  /** The content of the editor. */
  readonly draft: Exclude<Draft, undefined>
  /** Why it could not be saved. Left out: it is being saved. */
  readonly error?: string
  /** The edit that is being saved, or that failed. Left out: the draft is not a valid value of the field. */
  readonly edit?: Edit
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

const allOf = (cells: UnsavedCells) => [...cells.values()].flatMap((ofRecord) => [...ofRecord.values()])

export const countUnsaved = (cells: UnsavedCells) => allOf(cells).length

export const countFailed = (cells: UnsavedCells) => allOf(cells).filter(({ error }) => error !== undefined).length

/** Removes the cells that could not be saved. */
export const withoutFailed = (cells: UnsavedCells): UnsavedCells => {
  const left = [...cells].map(([pk, ofRecord]) => {
    const saving = [...ofRecord].filter(([, { error }]) => error === undefined)
    return [pk, new Map(saving)] as const
  })
  return new Map(left.filter(([, ofRecord]) => ofRecord.size > 0))
}
