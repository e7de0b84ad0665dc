import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { sendTagged } from '../../plugins/http/etag.ts'
import {
  DocumentHeadersSchema,
  type DocumentQuery,
  documentResponses,
  TablesDocumentQuerySchema
} from '../../schemas/document.ts'
import { invalid, tableNotFound } from '../../services/model/errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { scopeForAnyClaims } from '../../services/roles/any-claims.ts'
import { type LiveRole, roleNotFound } from '../../services/roles/roles.ts'
import { tableOutdated, tableUnusable } from '../../services/tables/failures.ts'
import { reachableTables } from '../../services/tables/token-access.ts'

type Version = NonNullable<DocumentQuery['openapi']>

const ROLE_OR_TABLES = {
  path: '/role',
  code: 'conflict',
  message: "Send 'role' or 'tables', not both."
}

/** The query is not validated yet. */
const namesRole = ({ query }: FastifyRequest) => (query as { readonly role?: unknown }).role !== undefined

const documentRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables, roles, typedDocuments } = fastify

  const usableTables = () =>
    tables.all().filter((table): table is RegisteredTable => table.structure !== null && !table.isOutdated)

  const tableNamed = (name: string): RegisteredTable => {
    const table = tables.find(name)
    if (!table) throw tableNotFound(name)
    if (table.structure === null) throw tableUnusable(name)
    if (table.isOutdated) throw tableOutdated(name)
    return table
  }

  const roleNamed = (name: string): LiveRole => {
    const role = roles.findByName(name)
    if (!role) throw roleNotFound(name)
    return role
  }

  const documentOfRole = (name: string, version: Version) => {
    const role = roleNamed(name)
    const scope = scopeForAnyClaims(role, tables.find)
    const reachable = reachableTables(tables.all(), scope).filter((table) => !table.isOutdated)
    return typedDocuments.forRole(role, scope, reachable, version)
  }

  const documentOfTables = (names: string | undefined, version: Version) => {
    const usable = usableTables()
    const chosen = names === undefined ? usable : [...new Set(names.split(',').map(tableNamed))]
    return typedDocuments.forAdministrator(chosen, usable, version)
  }

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminReadDocument',
        summary: 'Read the OpenAPI document of the tables',
        description:
          'Describes the records of the registered tables with the types of their fields, hidden fields too. With `role`, the document of the tokens of a role. It changes with the next request after a change of them.',
        tags: ['tables'],
        querystring: TablesDocumentQuerySchema,
        headers: DocumentHeadersSchema,
        response: documentResponses
      },
      config: {
        credential: 'administrator',
        scope: 'tables:read',
        furtherScopes: (request) => (namesRole(request) ? ['roles'] : []),
        errors: ['TABLE_NOT_FOUND', 'TABLE_UNUSABLE', 'STRUCTURE_CHANGED', 'ROLE_NOT_FOUND']
      }
    },
    async (request, reply) => {
      const { tables: names, role, openapi = '3.1' } = request.query
      if (role !== undefined && names !== undefined) throw invalid([ROLE_OR_TABLES])
      const document = role === undefined ? documentOfTables(names, openapi) : documentOfRole(role, openapi)
      return sendTagged(request, reply, await document)
    }
  )
}

export default documentRoutes
