import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../shared/plain-error.ts'
import { createCsvReader, type RecordReader } from './csv-records.ts'
import { UnreadableFile } from './import-errors.ts'
import { memoryOf } from './moved-memory.ts'
import { createObjectReader } from './object-readers.ts'
import type { StagedFile, StagingCalls, StagingMessage, StagingReply, StagingThreadOptions } from './protocol.ts'
import { createStagedRecords } from './staged-records.ts'
import { openStagedTable, type StagedTable } from './staged-table.ts'
import { runChecks } from './stored-checks.ts'

const port = parentPort as NonNullable<typeof parentPort>

/** Bytes whose records are in memory together. The fewer they are, the fewer are copied by the garbage collector. */
const READ_BYTES = 16 * 1024

type Methods = {
  readonly [M in keyof StagingCalls]: (
    argument: StagingCalls[M]['argument']
  ) => StagingCalls[M]['result'] | Promise<StagingCalls[M]['result']>
}

const createMethods = (options: StagingThreadOptions, table: StagedTable): Methods => {
  const { format } = options
  const records = createStagedRecords(options, table)
  const createReader = (): readonly [reader: RecordReader, checkEnd: () => void] => {
    if (format.type === 'csv') {
      const cells = records.createCellsReader()
      return [createCsvReader(format.delimiter, cells.read), cells.checkEnd]
    }
    const objects = records.createObjectReader(format.integers)
    return [createObjectReader(format.type, objects.read), objects.checkEnd]
  }
  const [reader, checkEnd] = createReader()
  let isReadable = true

  /** After an error that ends the reading, the rest of the file is ignored. */
  const read = async (step: () => Promise<void>) => {
    if (!isReadable) return
    try {
      await step()
      records.flush()
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error
      isReadable = false
      if (error.reason.code !== 'fields') records.addError(error.reason)
    }
  }

  return {
    write: async (chunk) => {
      for (let start = 0; start < chunk.length; start += READ_BYTES) {
        const end = Math.min(start + READ_BYTES, chunk.length)
        await read(() => reader.write(chunk.memory.subarray(start, end)))
      }
      return chunk
    },
    end: async (): Promise<StagedFile> => {
      await read(async () => {
        await reader.end()
        checkEnd()
      })
      return { ...table.finish(), fields: records.fields(), errors: records.errors() }
    },
    check: (checks) => runChecks(options, checks),
    step: table.step,
    rows: table.rows
  }
}

const call = async (methods: Methods, { method, argument }: StagingMessage): Promise<StagingReply> => {
  try {
    // The boundary where a message gets its type.
    return { result: await (methods[method] as (argument: unknown) => unknown)(argument) }
  } catch (error) {
    return { error: toPlainError(error) }
  }
}

/** Opens the staging file at the first call, so that a failure is the reply to it. */
const serve = (options: StagingThreadOptions) => {
  let methods: Methods | undefined
  const open = () => {
    methods ??= createMethods(options, openStagedTable(options))
    return methods
  }
  let calls: Promise<unknown> = Promise.resolve()
  const reply = async (message: StagingMessage): Promise<StagingReply> => {
    try {
      return await call(open(), message)
    } catch (error) {
      return { error: toPlainError(error) }
    }
  }
  port.on('message', (message: StagingMessage | 'close') => {
    if (message === 'close') {
      calls = calls.then(() => port.close())
      return
    }
    calls = calls.then(async () => port.postMessage(await reply(message), memoryOf(message)))
  })
}

serve(workerData as StagingThreadOptions)
