import type { ExportQuery } from '../../schemas/record.ts'
import type { ScanCaller as Caller, ChunkScan, Database, HeldReader } from '../engine/database.ts'
import { answerTooLarge } from '../model/errors.ts'
import { INT64 } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { collectKeys, exportByKey, exportCollected, exportPage } from '../sql/exports.ts'
import type { Selection } from '../sql/lists.ts'
import { csvHeader } from '../sql/record-csv.ts'
import type { RecordText } from '../sql/record-text.ts'
import type { Statement } from '../sql/statement.ts'
import { selectionOf, windowOf } from './selection.ts'
import type { View } from './view.ts'

interface ExportServiceOptions {
  readonly db: Database
  readonly maxPageSize: number
}

const BYTE_ORDER_MARK = '\ufeff'
const LINE_END = '\r\n'

/** Bytes that one step should give: large enough to be fast, small enough to keep memory flat. */
const TARGET_CHUNK = 256 * 1024
/** Bytes that a step of more than one row may give: rows may grow wider on the way. */
const LARGEST_CHUNK = 4 * TARGET_CHUNK
const FIRST_ROWS = 1
const MOST_ROWS = 2000
/** How many times as many rows as the last a step may have. */
const GROWTH = 8

/** Bytes are in memory that is overwritten two chunks later. */
type Chunk = Uint8Array | string

const toChunk = (text: SqlValue | undefined): Chunk | null =>
  typeof text === 'string' || text instanceof Uint8Array ? text : null

/** `chunk` is null if the step has no rows, or too many. */
const runStep = async (scan: ChunkScan, statement: Statement) => {
  const row = await scan(statement)
  return { chunk: toChunk(row?.text), count: Number(row?.count), bytes: Number(row?.bytes), last: row?.last }
}

/** Rows for the next step, from how many the last one met and their bytes; fewer, where those were too many. */
const nextStep = (count: number, bytes: number) =>
  Math.max(1, Math.min(MOST_ROWS, GROWTH * count, Math.floor((count * TARGET_CHUNK) / bytes)))

/**
 * CSV of whole tables: bounded memory, reader threads, and no snapshot held while the client does not read. A sorted or
 * filtered one holds a reader thread until it ends, or its connection does (`app.ts`: when nothing moves on it).
 */
export const createExportService = ({ db, maxPageSize }: ExportServiceOptions) => {
  /** Walks along an integer key; each step is a statement of its own, in the turn of its caller, who is asked for then. */
  async function* byKey(selection: Selection, csv: RecordText, caller: Caller): AsyncGenerator<Chunk> {
    const scan = db.chunkScan(caller)
    const descending = selection.order[0]?.descending === true
    const end = descending ? INT64.first : INT64.last
    let from = descending ? INT64.last : INT64.first
    let rows = FIRST_ROWS
    while (true) {
      const statement = exportByKey(selection, csv, from, { rows, maxBytes: LARGEST_CHUNK })
      const { chunk, count, bytes, last } = await runStep(scan, statement)
      if (count === 0) return
      if (chunk) {
        yield chunk
        const key = BigInt(String(last))
        if (count < rows || key === end) return
        from = descending ? key - 1n : key + 1n
      }
      rows = nextStep(count, bytes)
    }
  }

  async function* fromCollected(reader: HeldReader, selection: Selection, csv: RecordText): AsyncGenerator<Chunk> {
    let total = 0
    for (const statement of collectKeys(selection)) total = Number((await reader.scan(statement))[0]?.count ?? 0)
    let rows = FIRST_ROWS
    for (let after = 0; after < total; ) {
      const statement = exportCollected(selection, csv, after, { rows, maxBytes: LARGEST_CHUNK })
      const { chunk, count, bytes } = await runStep(reader.scanChunk, statement)
      if (chunk) yield chunk
      if (chunk || count === 0) after += rows
      if (count > 0) rows = nextStep(count, bytes)
    }
  }

  /** Sorts and filters once, in a reader thread held for this export, and walks along what it found. */
  async function* byPosition(selection: Selection, csv: RecordText, caller: Caller): AsyncGenerator<Chunk> {
    const reader = await db.holdReader()
    try {
      for await (const chunk of fromCollected(reader, selection, csv)) {
        await caller.confirm()
        yield chunk
      }
      // Where there are no rows, there is a header.
      await caller.confirm()
    } finally {
      await reader.release()
    }
  }

  async function* onePage(selection: Selection, csv: RecordText, query: ExportQuery, caller: Caller) {
    const [row] = await db.scan(exportPage(selection, csv, windowOf(query, maxPageSize)), caller)
    if (typeof row?.text !== 'string') throw answerTooLarge()
    yield row.text
  }

  const rowsOf = (view: View, selection: Selection, query: ExportQuery, caller: Caller) => {
    const csv = view.csv(query.escape !== false)
    if (query.page !== undefined || query.size !== undefined) return onePage(selection, csv, query, caller)
    const isInKeyOrder = view.table.structure.isRowidKey && selection.order.length === 1 && !selection.filter
    return isInKeyOrder ? byKey(selection, csv, caller) : byPosition(selection, csv, caller)
  }

  /**
   * Yields nothing first, once it is known that there will be an answer: see `exportCsv`. An export may take hours, so
   * all that gives rows asks for their caller before each chunk.
   */
  async function* withHeader(header: string, rows: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
    try {
      let step = await rows.next()
      yield ''
      yield header
      for (; !step.done; step = await rows.next()) yield step.value
    } finally {
      await rows.return(undefined)
    }
  }

  /**
   * CSV as chunks (RFC 4180, UTF-8, CRLF). Not one snapshot: rows that change meanwhile may show either state.
   * Resolves once the first rows are there, so that whatever can be refused is refused before the answer begins.
   * @throws VALIDATION_FAILED for `order`, OVERLOADED when two sorted or filtered exports are running
   */
  const exportCsv = async (view: View, query: ExportQuery, caller: Caller): Promise<AsyncGenerator<Chunk>> => {
    const selection = selectionOf(view, query)
    const header = csvHeader([...view.columns.values()], query.escape !== false) + LINE_END
    const chunks = withHeader(query.bom ? BYTE_ORDER_MARK + header : header, rowsOf(view, selection, query, caller))
    // A generator that was never started would not clean up: whoever gives up before the first chunk frees its reader.
    await chunks.next()
    return chunks
  }

  return { exportCsv }
}

export type ExportService = ReturnType<typeof createExportService>
