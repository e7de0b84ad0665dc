import type { FastifyRequest } from 'fastify'
import type { TableIdParamsSchema } from '../../schemas/envelope.ts'
import type { ErrorCode } from '../../schemas/error.ts'
import type { RecordParamsSchema, TableParamsSchema, TableRecordParamsSchema } from '../../schemas/record.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { Access } from '../../services/records/access/access.ts'

/**
 * What differs between the record routes of administrators and those of tokens. Each route has its texts for both, by
 * `credential`.
 */
export interface RecordArea {
  readonly credential: 'administrator' | 'token'
  readonly tags: readonly string[]
  readonly paths: {
    readonly table: string
    readonly list: string
    /** Records are created at this path. One record has the path `<records>/:pk`. */
    readonly records: string
  }
  readonly tableParams: typeof TableIdParamsSchema | typeof TableParamsSchema
  readonly recordParams: typeof RecordParamsSchema | typeof TableRecordParamsSchema
  /** The error codes of every route on a table. */
  readonly tableErrors: readonly ErrorCode[]
  /** Those of routes that also look up the table again during the request. */
  readonly recheckErrors: readonly ErrorCode[]
  /** Those of routes that change records. */
  readonly changeErrors: readonly ErrorCode[]
  /** Whether the records of an imported file may set read-only fields. */
  readonly setsReadOnly: boolean
  /** Returns the path of the records of a table, percent-encoded. */
  readonly recordsPath: (table: RegisteredTable) => string
  /** Returns the access of the caller to the table of the path. */
  readonly accessTo: (request: FastifyRequest) => Access
}

export interface RecordAreaOptions {
  readonly area: RecordArea
}
