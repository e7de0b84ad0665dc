import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'

const MOST_ENTRIES = 1000

export const actions = ['read', 'write', 'create', 'update', 'delete', 'schema'] as const
export type Action = (typeof actions)[number]

const ActionSchema = Type.Unsafe<Action>({
  type: 'string',
  enum: actions,
  description:
    '`read`: list, read one, schema. `write`: everything else. Finer: `create`, `update` (with increments), `delete`, `schema` (create a table, add a field).'
})

const PermissionsSchema = Type.Object(
  {
    tables: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: MOST_ENTRIES,
      description: 'Names of tables, existing or not, ignoring case; `*` stands for all.'
    }),
    actions: Type.Array(ActionSchema, { maxItems: MOST_ENTRIES })
  },
  { $id: 'Permissions', title: 'Permissions', description: 'An empty list grants nothing.', ...strict }
)
export type Permissions = Static<typeof PermissionsSchema>

const NullableTimestampSchema = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  description: 'Epoch milliseconds.'
})

const ExpirySchema = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Epoch milliseconds, from which on the token is refused; null for never.'
})

const NameSchema = Type.String({ minLength: 1, maxLength: 100, description: 'Need not be unique.' })

const PrefixSchema = Type.String({ description: 'The first characters of the token, then asterisks.' })

export const TokenSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    token_prefix: PrefixSchema,
    permissions: PermissionsSchema,
    is_active: Type.Boolean(),
    expires_at: NullableTimestampSchema,
    last_used_at: NullableTimestampSchema,
    created_at: TimestampSchema,
    updated_at: TimestampSchema
  },
  { $id: 'Token', title: 'Token', ...strict }
)
export type Token = Static<typeof TokenSchema>

export const IssuedTokenSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    token: Type.String({
      pattern: '^rh_[0-9a-f]{64}$',
      description: 'The secret. It is shown here and never again. The pattern is made for secret scanners.'
    }),
    tokenPrefix: PrefixSchema,
    permissions: PermissionsSchema
  },
  { $id: 'IssuedToken', title: 'IssuedToken', ...strict }
)
export type IssuedToken = Static<typeof IssuedTokenSchema>

export const NewTokenSchema = Type.Object(
  {
    name: NameSchema,
    permissions: PermissionsSchema,
    expiresAt: Type.Optional(ExpirySchema)
  },
  { $id: 'NewToken', title: 'NewToken', ...strict }
)
export type NewToken = Static<typeof NewTokenSchema>

export const TokenChangesSchema = Type.Object(
  {
    name: Type.Optional(NameSchema),
    permissions: Type.Optional(PermissionsSchema),
    isActive: Type.Optional(Type.Boolean()),
    expiresAt: Type.Optional(ExpirySchema)
  },
  { $id: 'TokenChanges', title: 'TokenChanges', minProperties: 1, ...strict }
)
export type TokenChanges = Static<typeof TokenChangesSchema>

/** What a token may know of itself. */
export const TokenIdentitySchema = Type.Object(
  {
    name: Type.String(),
    permissions: PermissionsSchema,
    expires_at: NullableTimestampSchema,
    tables: Type.Array(Type.String(), { description: 'The published tables in its scope.' })
  },
  { $id: 'TokenIdentity', title: 'TokenIdentity', ...strict }
)
