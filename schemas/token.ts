import { type Static, Type } from '@sinclair/typebox'
import { CreatedAtSchema, DoneSchema, Envelope, strict, UpdatedAtSchema } from './envelope.ts'
import { Int32, Int64, NullableInt64 } from './numbers.ts'
import { ClaimsSchema } from './role.ts'
import { ActionSchema } from './token-action.ts'

const MAX_ENTRIES = 1000

const PermissionsSchema = Type.Object(
  {
    tables: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: MAX_ENTRIES,
      description: 'Names of tables, ignoring case. They need not exist yet. `*` stands for all tables.',
      examples: [['products', 'orders']]
    }),
    actions: Type.Array(ActionSchema, {
      maxItems: MAX_ENTRIES,
      description: 'The permitted actions.',
      examples: [['read', 'update']]
    })
  },
  {
    title: 'TokenPermissions',
    description: 'The tables and actions of a token. An empty list permits nothing.',
    ...strict
  }
)
export type Permissions = Static<typeof PermissionsSchema>

const PERMISSIONS_EXAMPLE: Permissions = { tables: ['products', 'orders'], actions: ['read', 'update'] }

export const integerFormats = ['auto', 'number', 'string'] as const
export type IntegerFormat = (typeof integerFormats)[number]

const IntegerFormatSchema = Type.Unsafe<IntegerFormat>({
  type: 'string',
  enum: integerFormats,
  description:
    'How records show integer fields to this token. `auto`: a JSON number, but decimal text beyond ±(2^53−1). `number`: always a JSON number, for languages with 64-bit integers (Go, Java, Python, Rust, C#). `string`: always decimal text, which is exact in JavaScript.',
  examples: ['auto']
})

const EXPIRY = 'Time at which the token expires, in epoch milliseconds. null: never.'
const expiryExample = { examples: [1798761600000] }
const StoredExpirySchema = NullableInt64({ description: EXPIRY, ...expiryExample })

const expirySchema = (rule: string) =>
  NullableInt64({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `${EXPIRY} ${rule}`,
    ...expiryExample
  })

const NewExpirySchema = expirySchema('Must be in the future.')
const ExpirySchema = expirySchema('A time in the past ends the token.')

const nameExample = { examples: ['Web shop'] }
const NameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Name for display. Does not have to be unique.',
  ...nameExample
})

const MAX_REQUESTS = 1_000_000
const REQUESTS = 'Requests that the token can send in one window. A batch counts as one for each operation.'
const requestsExample = { examples: [100] }

const secondsSchema = (rule: string) =>
  Int32({
    minimum: 1,
    maximum: 86_400,
    description: `Length of a window in seconds. It begins with its first request.${rule}`,
    examples: [60]
  })

/** The window of a limit that names none, in seconds. */
export const DEFAULT_WINDOW = 60

const RateLimitSchema = Type.Object(
  {
    requests: Int32({ minimum: 1, maximum: MAX_REQUESTS, description: REQUESTS, ...requestsExample }),
    seconds: secondsSchema('')
  },
  {
    title: 'TokenRateLimit',
    description: 'How many requests the token can send. Absent: any number.',
    examples: [{ requests: 100, seconds: 60 }],
    ...strict
  }
)
export type RateLimit = Static<typeof RateLimitSchema>

const RateLimitInputSchema = Type.Object(
  {
    requests: NullableInt64({
      minimum: 1,
      maximum: MAX_REQUESTS,
      description: `${REQUESTS} null: any number.`,
      ...requestsExample
    }),
    seconds: Type.Optional(secondsSchema(` By default ${DEFAULT_WINDOW}.`))
  },
  {
    title: 'TokenRateLimitInput',
    description: 'How many requests the token can send.',
    examples: [{ requests: 100, seconds: 60 }],
    ...strict
  }
)
export type RateLimitInput = Static<typeof RateLimitInputSchema>

const NetworksSchema = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
  maxItems: 100,
  description: 'Addresses, or networks in CIDR notation, from which the token is accepted. Empty: all.',
  examples: [['10.0.0.0/8', '2001:db8::/32']]
})

const PREVIOUS_VALID_UNTIL = 'Time until which the previous secret is accepted, in epoch milliseconds.'
const PreviousValidUntilSchema = NullableInt64({
  description: `${PREVIOUS_VALID_UNTIL} null: it is not accepted.`,
  examples: [null]
})

const TokenIdSchema = Int64({ description: 'Id of the token.', examples: [2] })
const StoredNameSchema = Type.String({ description: 'Name for display.', ...nameExample })
const ActiveSchema = Type.Boolean({ description: 'false: requests with the token get 401.', examples: [true] })

const roleExample = { examples: ['customer'] }
const RoleNameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Name of the role, instead of permissions.',
  ...roleExample
})
const NullableRoleSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Name of the role, instead of permissions. null: the token has no role.',
  ...roleExample
})
const StoredRoleSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Name of the role. null: the permissions say what the token opens.',
  ...roleExample
})

const PrefixSchema = Type.String({
  description: 'The first characters of the token, then asterisks.',
  examples: ['rh_4c1d********']
})

const TokenSchema = Type.Object(
  {
    id: TokenIdSchema,
    name: StoredNameSchema,
    token_prefix: PrefixSchema,
    permissions: PermissionsSchema,
    role: StoredRoleSchema,
    claims: ClaimsSchema,
    integers: IntegerFormatSchema,
    rate_limit: Type.Optional(RateLimitSchema),
    networks: NetworksSchema,
    previous_valid_until: PreviousValidUntilSchema,
    is_active: ActiveSchema,
    expires_at: StoredExpirySchema,
    last_used_at: NullableInt64({
      description: 'Time of the last use, in epoch milliseconds. null: never used.',
      examples: [1767312000000]
    }),
    created_at: CreatedAtSchema,
    updated_at: UpdatedAtSchema
  },
  {
    title: 'Token',
    description: 'An access token, without its secret.',
    examples: [
      {
        id: 2,
        name: 'Customer 17',
        token_prefix: 'rh_4c1d********',
        permissions: { tables: [], actions: [] },
        role: 'customer',
        claims: { customer: 17 },
        integers: 'auto',
        rate_limit: { requests: 100, seconds: 60 },
        networks: ['10.0.0.0/8'],
        previous_valid_until: null,
        is_active: true,
        expires_at: 1798761600000,
        last_used_at: 1767312000000,
        created_at: 1767225600000,
        updated_at: 1767225600000
      }
    ],
    ...strict
  }
)
export const TokenEnvelope = Envelope('TokenEnvelope', TokenSchema)
export const TokensEnvelope = Envelope('TokenListEnvelope', Type.Array(TokenSchema, { description: 'The tokens.' }))
export type Token = Static<typeof TokenSchema>

const SecretSchema = Type.String({
  pattern: '^rh_[0-9a-f]{64}$',
  description: 'The secret. Only this response contains it. Secret scanners can search for the pattern.',
  examples: [`rh_${'0123456789abcdef'.repeat(4)}`]
})

const WarningsSchema = Type.Array(Type.String(), {
  description:
    'Only if the permissions name tables that are not registered, or the role compares claims that the token does not have. One sentence each.',
  examples: [["There is no table 'prodcts' now. The token can use it as soon as it is registered."]]
})

const IssuedTokenSchema = Type.Object(
  {
    id: TokenIdSchema,
    name: StoredNameSchema,
    token: SecretSchema,
    tokenPrefix: PrefixSchema,
    permissions: PermissionsSchema,
    role: Type.Optional(RoleNameSchema),
    claims: Type.Optional(ClaimsSchema),
    expiresAt: Type.Optional(
      NullableInt64({ description: `${EXPIRY} Only if the request contains \`expiresAt\`.`, ...expiryExample })
    ),
    integers: Type.Optional(IntegerFormatSchema),
    warnings: Type.Optional(WarningsSchema)
  },
  {
    title: 'IssuedToken',
    description: 'A new access token with its secret. It has `role` and `claims` if the request has a role.',
    ...strict
  }
)
export const IssuedTokenEnvelope = Envelope('IssuedTokenEnvelope', IssuedTokenSchema)

const ChangedTokenSchema = Type.Object(
  { ...DoneSchema.properties, warnings: Type.Optional(WarningsSchema) },
  { title: 'ChangedToken', description: 'The token is changed.', ...strict }
)
export const ChangedTokenEnvelope = Envelope('ChangedTokenEnvelope', ChangedTokenSchema)
export type IssuedToken = Static<typeof IssuedTokenSchema>

/** 30 days. */
const MAX_OVERLAP_SECONDS = 2_592_000

export const RotationSchema = Type.Object(
  {
    overlapSeconds: Type.Integer({
      format: 'int32',
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description: 'How long the previous secret is still accepted. 0: it ends at once.',
      examples: [3600]
    })
  },
  { title: 'TokenRotation', description: 'How a token gets a new secret.', ...strict }
)

const RotatedTokenSchema = Type.Object(
  {
    id: TokenIdSchema,
    token: SecretSchema,
    tokenPrefix: PrefixSchema,
    previousValidUntil: NullableInt64({
      description: `${PREVIOUS_VALID_UNTIL} null: it has ended.`,
      examples: [1767229200000]
    })
  },
  { title: 'RotatedToken', description: 'The new secret of a token.', ...strict }
)
export const RotatedTokenEnvelope = Envelope('RotatedTokenEnvelope', RotatedTokenSchema)
export type RotatedToken = Static<typeof RotatedTokenSchema>

export const NewTokenSchema = Type.Object(
  {
    name: NameSchema,
    permissions: Type.Optional(PermissionsSchema),
    role: Type.Optional(RoleNameSchema),
    claims: Type.Optional(ClaimsSchema),
    expiresAt: Type.Optional(NewExpirySchema),
    integers: Type.Optional(IntegerFormatSchema),
    rateLimit: Type.Optional(RateLimitInputSchema),
    networks: Type.Optional(NetworksSchema)
  },
  {
    title: 'TokenCreate',
    description: 'A new access token. It has `permissions`, or a `role` with `claims`.',
    examples: [{ name: 'Web shop', permissions: PERMISSIONS_EXAMPLE, expiresAt: 1798761600000, integers: 'auto' }],
    ...strict
  }
)
export type NewToken = Static<typeof NewTokenSchema>

export const TokenChangesSchema = Type.Object(
  {
    name: Type.Optional(NameSchema),
    permissions: Type.Optional(PermissionsSchema),
    role: Type.Optional(NullableRoleSchema),
    claims: Type.Optional(ClaimsSchema),
    isActive: Type.Optional(ActiveSchema),
    expiresAt: Type.Optional(ExpirySchema),
    integers: Type.Optional(IntegerFormatSchema),
    rateLimit: Type.Optional(RateLimitInputSchema),
    networks: Type.Optional(NetworksSchema)
  },
  {
    title: 'TokenUpdate',
    description: 'The properties to change.',
    examples: [{ name: 'Web shop', permissions: PERMISSIONS_EXAMPLE, isActive: true, expiresAt: 1798761600000 }],
    minProperties: 1,
    ...strict
  }
)
export type TokenChanges = Static<typeof TokenChangesSchema>

const ClosedTableSchema = Type.Object(
  {
    table: Type.String({ description: 'Name of the table.', examples: ['orders'] }),
    reason: Type.String({ description: 'A sentence.', examples: ["The token has no claim 'customer'."] })
  },
  {
    title: 'TokenClosedTable',
    description: 'A table in which a grant of the role opens nothing for this token.',
    ...strict
  }
)

const TokenIdentitySchema = Type.Object(
  {
    name: StoredNameSchema,
    permissions: PermissionsSchema,
    role: StoredRoleSchema,
    claims: ClaimsSchema,
    integers: IntegerFormatSchema,
    expires_at: StoredExpirySchema,
    tables: Type.Array(Type.String(), {
      description: 'Names of the published tables that the token can use.',
      examples: [['orders', 'products']]
    }),
    closed: Type.Array(ClosedTableSchema, {
      description: 'Published tables of which the role opens nothing, or less than it lists, for this token.'
    })
  },
  {
    title: 'TokenIdentity',
    description: 'The name and the permissions of the token of the request.',
    examples: [
      {
        name: 'Web shop',
        permissions: PERMISSIONS_EXAMPLE,
        role: null,
        claims: {},
        integers: 'auto',
        expires_at: null,
        tables: ['orders', 'products'],
        closed: []
      }
    ],
    ...strict
  }
)

export const TokenIdentityEnvelope = Envelope('TokenIdentityEnvelope', TokenIdentitySchema)
