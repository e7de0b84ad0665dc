import type { AuditEntry } from '../../audit/audit-row.ts'
import type { AuditRead } from '../../audit/read-audit.ts'
import type { Database, HeldReader } from '../../engine/database.ts'
import { scansOf } from '../../engine/scans.ts'
import type { Caller } from '../../model/caller.ts'
import {
  type CollectedStep,
  countKeyColumns,
  exportCollected,
  exportLines,
  exportPage,
  type RecordLines,
  selectKeys,
  selectLines
} from '../../sql/exports.ts'
import { isRowidOrder, type Selection } from '../../sql/selections.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Access } from '../access/access.ts'
import type { ReadableBy } from '../access/readable.ts'
import { confirmJoins } from '../read/confirming.ts'
import { textOf } from '../read/page-text.ts'
import type { Scan } from '../read/scans.ts'
import type { Search } from '../read/search.ts'
import {
  type ProjectionRequest,
  projectionOf,
  type SelectionRequest,
  selectionOf,
  type WindowRequest,
  windowOf
} from '../read/selection.ts'
import { walkKey } from './key-walk.ts'
import { type Chunk, createStepReader, createStepSize, MAX_STEP_BYTES } from './steps.ts'
import { exportText, type TextRequest } from './text.ts'

interface ExportServiceOptions {
  readonly db: Database
  readonly auditRead: AuditRead
  readonly search: Search
  readonly scan: Scan
  readonly readableBy: ReadableBy
  readonly maxPageSize: () => number
}

/** Reads the next part of an export. Waits while too many unread parts are in memory. */
export type ReadPart = (next: () => Promise<IteratorResult<Chunk>>) => Promise<IteratorResult<Chunk>>

type ExportRequest = SelectionRequest & WindowRequest & Pick<ProjectionRequest, 'fields'> & TextRequest

/** What a held reader collects for an export, and the statement of each step that reads it. */
interface Collection {
  rows(selection: Selection): Statement
  readonly columnCount: number
  step(limits: CollectedStep): Statement
}

/** Returns the collection of a table: the keys of its rows. */
const keysOf = (selection: Selection, lines: RecordLines): Collection => ({
  rows: selectKeys,
  columnCount: countKeyColumns(selection.table),
  step: (limits) => exportCollected(selection, lines, limits)
})

/** Returns the collection of an SQL view, which has no rowid and maybe no key: the lines of its rows. */
const linesOf = (lines: RecordLines): Collection => ({
  rows: (selection) => selectLines(selection, lines),
  columnCount: 1,
  step: (limits) => exportLines(lines, limits)
})

/** Values of a filter or a search may be secret. */
const exportEntry = ({ table }: Access, { format = 'csv', fields, filter, q }: ExportRequest): AuditEntry => {
  const isFiltered = filter !== undefined || Boolean(q)
  return { action: 'export', target: table.name, targetId: table.id, summary: { format, fields, isFiltered } }
}

/** Reads the rows that a held reader has collected, step by step. `total`: their number. */
async function* readCollected(reader: HeldReader, total: number, { step }: Collection): AsyncGenerator<Chunk> {
  const size = createStepSize()
  const readStep = createStepReader(reader.scanChunk)
  for (let after = 0; after < total; ) {
    const { rows } = size
    const limits = { collected: reader.collected(after, rows), maxBytes: MAX_STEP_BYTES }
    const { chunk, count, bytes } = await readStep(step(limits))
    if (chunk) yield chunk
    // A step without a chunk had too many bytes, unless all of its rows have been deleted.
    if (chunk || count === 0) after += rows
    if (count > 0) size.adjust(count, bytes)
  }
}

/**
 * Exports whole tables with bounded memory, in readers. A sorted or filtered export, and that of an SQL view, holds a reader
 * until the export or its connection ends. No snapshot of a table is held while the client does not read.
 */
export const createExportService = ({ db, auditRead, search, scan, readableBy, maxPageSize }: ExportServiceOptions) => {
  /** Runs each step as a scan of its own, which is queued fairly and confirms the caller's right. */
  const inKeyOrder = (caller: Caller, selection: Selection, lines: RecordLines) =>
    walkKey(db.chunkScan(caller), selection, lines)

  /** Sorts and filters once, in a reader held for this export. */
  async function* inAnyOrder(caller: Caller, selection: Selection, lines: RecordLines): AsyncGenerator<Chunk> {
    const { table } = selection
    const reader = await scansOf(db, table).holdReader(caller)
    const collection = table.structure.isView ? linesOf(lines) : keysOf(selection, lines)
    try {
      const total = await search(caller, selection, (rows) =>
        reader.collect(collection.rows(rows), collection.columnCount)
      )
      for await (const chunk of readCollected(reader, total, collection)) {
        await caller.confirm()
        yield chunk
      }
      // Without rows the header is the whole export.
      await caller.confirm()
    } finally {
      await reader.release()
    }
  }

  async function* onePage(caller: Caller, selection: Selection, lines: RecordLines, request: ExportRequest) {
    const window = windowOf(request, maxPageSize())
    const [row] = await scan(caller, selection, (rows) => exportPage(rows, lines, window))
    yield textOf(row)
  }

  const rowsOf = (caller: Caller, selection: Selection, lines: RecordLines, request: ExportRequest) => {
    if (request.page !== undefined || request.size !== undefined) return onePage(caller, selection, lines, request)
    const walksKey = isRowidOrder(selection) && !selection.filter
    return walksKey ? inKeyOrder(caller, selection, lines) : inAnyOrder(caller, selection, lines)
  }

  /** Yields an empty text once the first rows have been read, then the header and the rows. See `exportRecords`. */
  async function* withHeader(header: string, rows: AsyncGenerator<Chunk>, readPart: ReadPart): AsyncGenerator<Chunk> {
    const read = () => readPart(() => rows.next())
    try {
      let step = await read()
      yield ''
      yield header
      for (; !step.done; step = await read()) yield step.value
    } finally {
      await rows.return(undefined)
    }
  }

  /**
   * Returns the text as chunks, in UTF-8. The export of an SQL view is one snapshot. That of a table is not: rows that
   * change during it may show either state.
   * Resolves when the first rows have been read, so that an error is thrown before the response begins.
   * @throws VALIDATION_FAILED, OVERLOADED while exports hold two readers, or one for the same token; for SQL views, one
   */
  const exportRecords = async (
    caller: Caller,
    access: Access,
    request: ExportRequest,
    readPart: ReadPart = (next) => next()
  ): Promise<AsyncGenerator<Chunk>> => {
    const select = () => selectionOf(access, request, readableBy(caller))
    const selection = select()
    const text = exportText(projectionOf(access, request, readableBy(caller)), request)
    const confirmed = confirmJoins(caller, selection, select)
    const chunks = withHeader(text.header, rowsOf(confirmed, selection, text, request), readPart)
    // A generator that has not started runs no `finally`: starting it here guarantees that its reader is released.
    await chunks.next()
    auditRead(caller, exportEntry(access, request))
    return chunks
  }

  return { exportRecords }
}

export type ExportService = ReturnType<typeof createExportService>
