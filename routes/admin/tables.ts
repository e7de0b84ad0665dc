import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ImportablesEnvelope, ImportedEnvelope, TableImportSchema } from '../../schemas/adoption.ts'
import { done, OkSchema, ok, TableIdParamsSchema } from '../../schemas/envelope.ts'
import { FieldAdditionSchema, NewTableSchema } from '../../schemas/new-table.ts'
import { READ_ERRORS, READ_ONLY_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { TableEnvelope, TablesEnvelope } from '../../schemas/table.ts'
import { TableChangesSchema, UnregisterQuerySchema } from '../../schemas/table-changes.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { toNewTable, toTable, toUpdatedTable } from '../../services/tables/table-json.ts'

const tags = ['tables']
const response = { 200: TableEnvelope }

/** Administrators can declare foreign keys to every field. */
const isReferable = () => true

const tableRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListTables',
        summary: 'List the registered tables',
        description: 'Lists all registered tables with their fields, also those that are not published.',
        tags,
        response: { 200: TablesEnvelope }
      },
      config: { credential: 'administrator', scope: 'tables:read', errors: [] }
    },
    async () => ok(tables.all().map(toTable))
  )

  fastify.get(
    '/:id',
    {
      schema: {
        operationId: 'adminReadTable',
        summary: 'Read one table',
        description: 'Returns the table with its fields, also the hidden ones.',
        tags,
        params: TableIdParamsSchema,
        response
      },
      config: { credential: 'administrator', scope: 'tables:read', errors: ['TABLE_NOT_FOUND', 'TABLE_UNUSABLE'] }
    },
    async ({ params }) => ok(toTable(tables.get(params.id)))
  )

  fastify.get(
    '/importable',
    {
      schema: {
        operationId: 'adminListImportableTables',
        summary: 'List the tables and views that are not registered',
        description:
          'Lists what the file has and the registry has not, by name. Tables of SQLite and of Rowhouse, and the parts of virtual tables, are left out.',
        tags,
        response: { 200: ImportablesEnvelope }
      },
      config: { credential: 'administrator', scope: 'tables:read', errors: READ_ERRORS }
    },
    async ({ caller }) => ok(await tables.listAdoptable(caller))
  )

  fastify.post(
    '/import',
    {
      schema: {
        operationId: 'adminImportTables',
        summary: 'Import tables and views',
        description:
          'Registers existing tables of the database, and views, which can only be read. Their columns and rows do not change. The properties of the request, such as hidden fields, are set in the same step: tokens never see a table without them. A field of a view is hidden if it may show a hidden column of a registered table, unless it is sent with `isHidden: false`; `warnings` say why. Of several tables, all are imported or none; each must have all `fields` that are sent. With `names`, `data` is a list.',
        tags,
        body: TableImportSchema,
        response: { 200: ImportedEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_REGISTERED',
          'TABLE_NOT_IMPORTABLE',
          'TABLE_UNUSABLE',
          'UNIQUE_VIOLATION',
          'STRUCTURE_CHANGED',
          'SCAN_TIMEOUT'
        ]
      }
    },
    async ({ caller, body }) => {
      const imported = await tables.adoptTables(caller, body)
      const show = (table: RegisteredTable) => toNewTable(table, tables.namedBy(table))
      return ok(Array.isArray(imported) ? imported.map(show) : show(imported))
    }
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminCreateTable',
        summary: 'Create a table',
        description: 'Creates the table in the database and registers it. Tokens can use it at once.',
        tags,
        body: NewTableSchema,
        response
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [...WRITE_ERRORS, 'TABLE_EXISTS', 'TABLE_REGISTERED', 'STRUCTURE_CHANGED']
      }
    },
    async ({ caller, body }) => {
      const created = await tables.create(caller, body, { isReferable })
      return ok(toNewTable(created, tables.namedBy(created)))
    }
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'adminUpdateTable',
        summary: 'Change the properties of a table',
        description:
          'Changes only the properties and fields that are sent. With `name`, the table is renamed, also in foreign keys, triggers and views; the response has `tokens`: those whose permissions named the old name. `searchIndex: true` returns at once; `searchIndex` of the table shows the progress of the build.',
        tags,
        params: TableIdParamsSchema,
        body: TableChangesSchema,
        response
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          'TABLE_CHANGED',
          'TABLE_EXISTS',
          'TABLE_REGISTERED',
          ...READ_ONLY_ERRORS,
          'UNIQUE_VIOLATION',
          'STRUCTURE_CHANGED',
          'STRUCTURE_IN_USE',
          'RIGHTS_CONFLICT',
          'SCAN_TIMEOUT'
        ]
      }
    },
    async ({ caller, params, body }) => ok(toUpdatedTable(await tables.update(caller, params.id, body)))
  )

  fastify.post(
    '/:id/fields',
    {
      schema: {
        operationId: 'adminAddTableField',
        summary: 'Add a field to a table',
        description:
          'Adds a column to the stored table, also if `isEditable` is false. `isPrimary` and `isAutoIncrement` cannot be true: the key cannot change. A field that is not `nullable` needs a default.',
        tags,
        params: TableIdParamsSchema,
        body: FieldAdditionSchema,
        response
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          'TABLE_CHANGED',
          ...READ_ONLY_ERRORS,
          'FIELD_EXISTS',
          'UNIQUE_VIOLATION',
          'STRUCTURE_CHANGED',
          'STRUCTURE_IN_USE',
          'SCAN_TIMEOUT'
        ]
      }
    },
    async ({ caller, params, body }) => ok(toTable(await tables.addField(caller, params.id, body.field, isReferable)))
  )

  fastify.post(
    '/:id/refresh',
    {
      schema: {
        operationId: 'adminRefreshTable',
        summary: 'Refresh a table',
        description:
          'Reads the columns of the stored table again, after another program has changed them. New columns become visible to tokens, unless the table hides any field: then they are hidden.',
        tags,
        params: TableIdParamsSchema,
        response
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          'TABLE_CHANGED',
          'TABLE_NOT_IMPORTABLE',
          'STRUCTURE_CHANGED'
        ]
      }
    },
    async ({ caller, params }) => ok(toTable(await tables.refresh(caller, params.id)))
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'adminUnregisterTable',
        summary: 'Unregister or drop a table',
        description:
          'The table and its rows stay in the database, and can be imported again. With `drop=true` they are deleted, unless a foreign key, a view or a trigger needs the table.',
        tags,
        params: TableIdParamsSchema,
        querystring: UnregisterQuerySchema,
        response: { 200: OkSchema }
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          ...READ_ONLY_ERRORS,
          'TABLE_CHANGED',
          'STRUCTURE_CHANGED',
          'STRUCTURE_IN_USE',
          'SCAN_TIMEOUT',
          'CONFIRMATION_REQUIRED'
        ]
      }
    },
    async ({ caller, params, query }) => {
      const remove = query.drop ? tables.drop : tables.unregister
      await remove(caller, params.id, query.confirm === true)
      return done()
    }
  )
}

export default tableRoutes
