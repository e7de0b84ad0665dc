import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'

const MAX_ENTRIES = 1000

export const actions = ['read', 'write', 'create', 'update', 'delete', 'schema'] as const
export type Action = (typeof actions)[number]

const ActionSchema = Type.Unsafe<Action>({
  type: 'string',
  enum: actions,
  description:
    '`read`: list and read records, read the schema. `create`: create records. `update`: update and increment records. `delete`: delete records. `schema`: create tables, add fields. `write`: `create`, `update`, `delete` and `schema`.'
})

const PermissionsSchema = Type.Object(
  {
    tables: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: MAX_ENTRIES,
      description: 'Names of tables, ignoring case. They need not exist yet. `*` stands for all tables.'
    }),
    actions: Type.Array(ActionSchema, { maxItems: MAX_ENTRIES })
  },
  {
    $id: 'Permissions',
    title: 'Permissions',
    description: 'The tables and actions of a token. An empty list permits nothing.',
    ...strict
  }
)
export type Permissions = Static<typeof PermissionsSchema>

export const integerFormats = ['auto', 'number', 'string'] as const
export type IntegerFormat = (typeof integerFormats)[number]

const IntegerFormatSchema = Type.Unsafe<IntegerFormat>({
  type: 'string',
  enum: integerFormats,
  description:
    'How records show integer fields to this token. `auto`: a JSON number, but decimal text beyond ±(2^53−1). `number`: always a JSON number, for languages with 64-bit integers (Go, Java, Python, Rust, C#). `string`: always decimal text, which is exact in JavaScript.'
})

const NullableTimestampSchema = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  description: 'Epoch milliseconds. null: never.'
})

const expirySchema = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const EXPIRY = 'Epoch milliseconds at which the token expires. null: never.'
const NewExpirySchema = expirySchema(`${EXPIRY} Must be in the future.`)
const ExpirySchema = expirySchema(`${EXPIRY} A time in the past ends the token.`)

const NameSchema = Type.String({ minLength: 1, maxLength: 100, description: 'Does not have to be unique.' })

const PrefixSchema = Type.String({ description: 'The first characters of the token, then asterisks.' })

export const TokenSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    token_prefix: PrefixSchema,
    permissions: PermissionsSchema,
    integers: IntegerFormatSchema,
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
      description: 'The secret. Only this response contains it. Secret scanners can search for the pattern.'
    }),
    tokenPrefix: PrefixSchema,
    permissions: PermissionsSchema,
    expiresAt: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Epoch milliseconds. null: never. Only if the request contains `expiresAt`.'
      })
    ),
    integers: Type.Optional(IntegerFormatSchema)
  },
  { $id: 'IssuedToken', title: 'IssuedToken', ...strict }
)
export type IssuedToken = Static<typeof IssuedTokenSchema>

export const NewTokenSchema = Type.Object(
  {
    name: NameSchema,
    permissions: PermissionsSchema,
    expiresAt: Type.Optional(NewExpirySchema),
    integers: Type.Optional(IntegerFormatSchema)
  },
  { $id: 'NewToken', title: 'NewToken', ...strict }
)
export type NewToken = Static<typeof NewTokenSchema>

export const TokenChangesSchema = Type.Object(
  {
    name: Type.Optional(NameSchema),
    permissions: Type.Optional(PermissionsSchema),
    isActive: Type.Optional(Type.Boolean()),
    expiresAt: Type.Optional(ExpirySchema),
    integers: Type.Optional(IntegerFormatSchema)
  },
  { $id: 'TokenChanges', title: 'TokenChanges', minProperties: 1, ...strict }
)
export type TokenChanges = Static<typeof TokenChangesSchema>

/** The token of the request. */
export const TokenIdentitySchema = Type.Object(
  {
    name: Type.String(),
    permissions: PermissionsSchema,
    integers: IntegerFormatSchema,
    expires_at: NullableTimestampSchema,
    tables: Type.Array(Type.String(), { description: 'Names of the published tables that the token can use.' })
  },
  { $id: 'TokenIdentity', title: 'TokenIdentity', ...strict }
)
