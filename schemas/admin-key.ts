import { type Static, Type } from '@sinclair/typebox'
import { CreatedAtSchema, Envelope, strict } from './envelope.ts'
import { Int64, NullableInt64 } from './numbers.ts'

/** What the scopes open. Each route under /admin that an admin key can use declares one of them. */
const SCOPES = {
  'tables:read': 'read the registered tables, their indexes and their document',
  'tables:write': 'create, import, change, refresh, unregister and drop tables, fields and indexes',
  'records:read': 'read and export the records of all tables, with the hidden fields',
  'records:write': 'create, update and delete the records of all tables',
  tokens: 'issue, change and revoke tokens',
  roles: 'create, change and delete roles',
  imports: 'import files into all tables, and list the imports',
  backups: 'make, download, restore and delete backups',
  audit: 'read the audit',
  settings: 'read and change the settings, and read the state of the service'
} as const

export type AdminScope = keyof typeof SCOPES
export const ADMIN_SCOPES = Object.keys(SCOPES) as readonly AdminScope[]

const AdminScopeSchema = Type.Unsafe<AdminScope>({
  type: 'string',
  title: 'AdminScope',
  enum: ADMIN_SCOPES,
  examples: ['tables:read'],
  description: `${ADMIN_SCOPES.map((scope) => `\`${scope}\`: ${SCOPES[scope]}.`).join(' ')} No scope includes another one. With \`tokens\`, \`roles\` or \`backups\`, a key can read and change all records.`
})

const scopesExample = { examples: [['tables:read', 'tables:write']] }
const ScopesSchema = Type.Array(AdminScopeSchema, { description: 'What the key can do.', ...scopesExample })

const nameExample = { examples: ['Migrations in CI'] }
const StoredNameSchema = Type.String({ description: 'Name for display, and in the audit.', ...nameExample })

const KeyIdSchema = Int64({ description: 'Id of the admin key.', examples: [1] })

const EXPIRY = 'Time at which the key expires, in epoch milliseconds. null: never.'
const expiryExample = { examples: [1798761600000] }
const StoredExpirySchema = NullableInt64({ description: EXPIRY, ...expiryExample })

const PrefixSchema = Type.String({
  description: 'The first characters of the key, then asterisks.',
  examples: ['rha_4c1d52ab********']
})

const AdminKeySchema = Type.Object(
  {
    id: KeyIdSchema,
    name: StoredNameSchema,
    key_prefix: PrefixSchema,
    scopes: ScopesSchema,
    expires_at: StoredExpirySchema,
    last_used_at: NullableInt64({
      description: 'Time of the last use, in epoch milliseconds. null: never used.',
      examples: [1767312000000]
    }),
    created_at: CreatedAtSchema
  },
  { title: 'AdminKey', description: 'A key for administration, without its secret.', ...strict }
)
export type AdminKey = Static<typeof AdminKeySchema>
export const AdminKeyEnvelope = Envelope('AdminKeyEnvelope', AdminKeySchema)
export const AdminKeysEnvelope = Envelope(
  'AdminKeyListEnvelope',
  Type.Array(AdminKeySchema, { description: 'The admin keys.' })
)

const IssuedAdminKeySchema = Type.Object(
  {
    id: KeyIdSchema,
    name: StoredNameSchema,
    key: Type.String({
      pattern: '^rha_[0-9a-f]{64}$',
      description: 'The secret. Only this response contains it. Secret scanners can search for the pattern.',
      examples: [`rha_${'0123456789abcdef'.repeat(4)}`]
    }),
    keyPrefix: PrefixSchema,
    scopes: ScopesSchema,
    expiresAt: StoredExpirySchema
  },
  { title: 'IssuedAdminKey', description: 'A new key for administration with its secret.', ...strict }
)
export type IssuedAdminKey = Static<typeof IssuedAdminKeySchema>
export const IssuedAdminKeyEnvelope = Envelope('IssuedAdminKeyEnvelope', IssuedAdminKeySchema)

export const NewAdminKeySchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Name for display, and in the audit. Does not have to be unique.',
      ...nameExample
    }),
    scopes: Type.Array(AdminScopeSchema, {
      minItems: 1,
      maxItems: 100,
      description: 'What the key can do.',
      ...scopesExample
    }),
    expiresAt: Type.Optional(
      NullableInt64({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: `${EXPIRY} Must be in the future.`,
        ...expiryExample
      })
    )
  },
  { title: 'AdminKeyCreate', description: 'A new key for administration.', ...strict }
)
export type NewAdminKey = Static<typeof NewAdminKeySchema>
