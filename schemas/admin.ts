import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { CreatedAtSchema, Envelope, strict, UpdatedAtSchema } from './envelope.ts'
import { Int32, Int64 } from './numbers.ts'
import { ADMIN_NAME_PATTERN } from './patterns.ts'

/** For new passwords. A longer one in a login is compared, and fails as wrong. */
const MAX_PASSWORD_LENGTH = 256

const AdminIdSchema = Int64({ description: 'Id of the administrator.', examples: [1] })
const NameSchema = Type.String({ description: 'Name for the login.', examples: ['maria'] })
const StoredNicknameSchema = Type.String({ description: 'Name for display.', examples: ['Maria Silva'] })

const SET_BY_OTHER = 'somebody else has set the password.'

const MustChangePasswordSchema = Type.Boolean({ description: `true: ${SET_BY_OTHER}`, examples: [false] })

const AdminSchema = Type.Object(
  {
    id: AdminIdSchema,
    name: NameSchema,
    nickname: StoredNicknameSchema,
    mustChangePassword: MustChangePasswordSchema
  },
  { title: 'Admin', description: 'The administrator of the session.', ...strict }
)
export const AdminEnvelope = Envelope('AdminEnvelope', AdminSchema)
export type Admin = Static<typeof AdminSchema>

const AdminAccountSchema = Type.Object(
  {
    id: AdminIdSchema,
    name: NameSchema,
    nickname: StoredNicknameSchema,
    must_change_password: Int32({ minimum: 0, maximum: 1, description: `1: ${SET_BY_OTHER}`, examples: [0] }),
    created_at: CreatedAtSchema,
    updated_at: UpdatedAtSchema
  },
  { title: 'AdminAccount', description: 'An administrator, for other administrators.', ...strict }
)
export const AdminAccountEnvelope = Envelope('AdminAccountEnvelope', AdminAccountSchema)
export const AdminAccountsEnvelope = Envelope(
  'AdminAccountListEnvelope',
  Type.Array(AdminAccountSchema, { description: 'The administrators.' })
)
export type AdminAccount = Static<typeof AdminAccountSchema>

const passwordExample = { examples: ['correct horse battery'] }

/** A password to compare. Any length that is cheap to hash is valid; other rules apply to new passwords only. */
const AnyPasswordSchema = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'The present password.',
  ...passwordExample
})

const NewPasswordSchema = Type.String({
  minLength: 1,
  maxLength: MAX_PASSWORD_LENGTH,
  description: `At least PASSWORD_MIN_LENGTH characters (8 unless configured), at most ${MAX_PASSWORD_LENGTH}.`,
  examples: ['seven green apples']
})

const nicknameSchema = (description: string) => Type.String({ maxLength: 200, description, examples: ['Maria Silva'] })
const NicknameSchema = nicknameSchema('Name for display.')
const NewNicknameSchema = nicknameSchema('Name for display. The default is the name.')

export const LoginSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'Name of the administrator, ignoring the case of ASCII letters.',
      examples: ['maria']
    }),
    password: AnyPasswordSchema
  },
  { title: 'Credentials', description: 'The name and the password of an administrator.', ...strict }
)
export type Login = Static<typeof LoginSchema>

const SessionIdSchema = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'Id of the session.',
  examples: ['0b0e9d0e-5f4c-4f43-9a53-2f6f0a6f7f10']
})

const AdminSessionSchema = Type.Object(
  {
    id: SessionIdSchema,
    address: Type.String({ description: 'IP address of the login. Empty if not known.', examples: ['192.0.2.7'] }),
    user_agent: Type.String({
      description: 'The header `User-Agent` of the login, cut to 200 characters.',
      examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0']
    }),
    is_current: Type.Boolean({ description: 'true: the session of this request.', examples: [true] }),
    created_at: CreatedAtSchema,
    expires_at: Int64({ description: 'Time of the end, in epoch milliseconds.', examples: [1767355200000] })
  },
  { title: 'AdminSession', description: 'A login of yours that has not ended.', ...strict }
)
export const AdminSessionsEnvelope = Envelope(
  'AdminSessionListEnvelope',
  Type.Array(AdminSessionSchema, { description: 'Your latest 100 sessions, the latest login first.' })
)
export type AdminSession = Static<typeof AdminSessionSchema>

export const SessionIdParamsSchema = Type.Object({ id: SessionIdSchema }, strict)

const LoginResultSchema = Type.Object(
  { admin: AdminSchema, mustChangePassword: MustChangePasswordSchema },
  { title: 'SessionInfo', description: 'The administrator who has logged in.', ...strict }
)

export const LoginEnvelope = Envelope('SessionInfoEnvelope', LoginResultSchema)

export const PasswordChangeSchema = Type.Object(
  { oldPassword: AnyPasswordSchema, newPassword: NewPasswordSchema },
  { title: 'PasswordChange', description: 'A new password of your own account.', ...strict }
)
export type PasswordChange = Static<typeof PasswordChangeSchema>

/** Python's regular expressions have no `\p{…}`, so the document describes the pattern in prose. */
const NewNameSchema = documentedAs(
  Type.String({ pattern: ADMIN_NAME_PATTERN }),
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: '1 to 100 printable characters. Unique, ignoring the case of ASCII letters.',
    examples: ['jonas']
  })
)

export const NewAdminSchema = Type.Object(
  { name: NewNameSchema, nickname: Type.Optional(NewNicknameSchema), password: NewPasswordSchema },
  { title: 'AdminAccountCreate', description: 'A new administrator.', ...strict }
)
export type NewAdmin = Static<typeof NewAdminSchema>

export const AdminChangesSchema = Type.Object(
  { nickname: Type.Optional(NicknameSchema), password: Type.Optional(NewPasswordSchema) },
  { title: 'AdminAccountUpdate', description: 'The properties to change.', minProperties: 1, ...strict }
)
export type AdminChanges = Static<typeof AdminChangesSchema>
