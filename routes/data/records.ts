import { TOKEN_CHANGE_ERRORS, TOKEN_READ_ERRORS, TOKEN_TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { TableParamsSchema, TableRecordParamsSchema } from '../../schemas/record.ts'
import type { RecordArea } from '../records/area.ts'

export const tokenRecords: RecordArea = {
  credential: 'token',
  tags: ['data'],
  paths: { table: '/:table', list: '/:table', records: '/:table/records' },
  tableParams: TableParamsSchema,
  recordParams: TableRecordParamsSchema,
  tableErrors: TOKEN_TABLE_ERRORS,
  recheckErrors: TOKEN_READ_ERRORS,
  changeErrors: TOKEN_CHANGE_ERRORS,
  setsReadOnly: false,
  recordsPath: ({ name }) => `/data/${encodeURIComponent(name)}/records`,
  accessTo: ({ server, caller, table, actions }) => server.accessOf(caller, table, actions)
}
