import type { FastifyRequest } from 'fastify'
import { TableIdParamsSchema } from '../../schemas/envelope.ts'
import { TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { RecordParamsSchema } from '../../schemas/record.ts'
import type { RecordArea } from '../records/area.ts'

/** The boundary function that gives the validated path its type. */
const tableId = (request: FastifyRequest) => (request.params as { readonly id: number }).id

export const adminRecords: RecordArea = {
  credential: 'administrator',
  tags: ['records'],
  paths: { table: '/:id', list: '/:id/data', records: '/:id/data' },
  tableParams: TableIdParamsSchema,
  recordParams: RecordParamsSchema,
  tableErrors: TABLE_ERRORS,
  recheckErrors: TABLE_ERRORS,
  changeErrors: TABLE_ERRORS,
  setsReadOnly: true,
  recordsPath: ({ id }) => `/admin/tables/${id}/data`,
  accessTo: (request) => {
    const { tables, accessOf } = request.server
    return accessOf(request.caller, tables.get(tableId(request)), [])
  }
}
