import { type Static, Type } from '@sinclair/typebox'
import { strict } from './envelope.ts'

const VersionSchema = Type.Optional(
  Type.Unsafe<'3.0' | '3.1'>({
    type: 'string',
    enum: ['3.0', '3.1'],
    description: 'The version of OpenAPI: `3.0` stands for 3.0.3, `3.1` (the default) for 3.1.0.',
    examples: ['3.0']
  })
)

export const DocumentQuerySchema = Type.Object({ openapi: VersionSchema }, strict)

export const TablesDocumentQuerySchema = Type.Object(
  {
    openapi: VersionSchema,
    tables: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Names of tables, separated by commas. Without it, the document describes all tables.',
        examples: ['products,orders']
      })
    ),
    role: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Name of a role, instead of `tables`. The document is that of its tokens, as GET /data/_openapi.json returns it for a token that has all claims. An admin key then also needs the scope `roles`.',
        examples: ['customer']
      })
    )
  },
  strict
)
export type DocumentQuery = Static<typeof DocumentQuerySchema>

export const DocumentHeadersSchema = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'The `ETag` of an earlier response. The response is 304 if the document is still the same.',
      examples: ['"6c1f0a9be2d47f35"']
    })
  )
})

const OpenapiDocumentSchema = Type.Object(
  {},
  {
    title: 'OpenapiDocument',
    additionalProperties: true,
    description: 'An OpenAPI document.',
    examples: [{ openapi: '3.1.0', info: { title: 'Rowhouse', version: '0.1.0+6c1f0a9b' }, paths: {} }]
  }
)

const headers = { ETag: { type: 'string', description: 'Identifies this content of the document.' } }

export const documentResponses = {
  200: { ...OpenapiDocumentSchema, headers },
  304: Type.Null({ description: 'The document is still the same. The response has no body.', headers })
}
