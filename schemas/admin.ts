import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'
import { ADMIN_NAME_PATTERN } from './patterns.ts'

/** For new passwords. A longer one in a login is compared, and fails as wrong. */
const MAX_PASSWORD_LENGTH = 256

export const AdminSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    nickname: Type.String(),
    mustChangePassword: Type.Boolean({ description: 'true: somebody else has set the password.' })
  },
  { $id: 'Admin', title: 'Admin', description: 'The administrator of the session.', ...strict }
)
export type Admin = Static<typeof AdminSchema>

export const AdminAccountSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    nickname: Type.String(),
    must_change_password: Type.Integer({
      minimum: 0,
      maximum: 1,
      description: '1: somebody else has set the password.'
    }),
    created_at: TimestampSchema,
    updated_at: TimestampSchema
  },
  { $id: 'AdminAccount', title: 'AdminAccount', description: 'An administrator, for other administrators.', ...strict }
)
export type AdminAccount = Static<typeof AdminAccountSchema>

/** A password to compare. Any length that is cheap to hash is valid; other rules apply to new passwords only. */
const AnyPasswordSchema = Type.String({ minLength: 1, maxLength: 1024 })

const NewPasswordSchema = Type.String({
  minLength: 1,
  maxLength: MAX_PASSWORD_LENGTH,
  description: `At least PASSWORD_MIN_LENGTH characters (8 unless configured), at most ${MAX_PASSWORD_LENGTH}.`
})

const NicknameSchema = Type.String({ maxLength: 200 })

export const LoginSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 1024 }), password: AnyPasswordSchema },
  { $id: 'Login', title: 'Login', ...strict }
)
export type Login = Static<typeof LoginSchema>

export const LoginResultSchema = Type.Object(
  { admin: AdminSchema, mustChangePassword: Type.Boolean() },
  { $id: 'LoginResult', title: 'LoginResult', ...strict }
)

export const PasswordChangeSchema = Type.Object(
  { oldPassword: AnyPasswordSchema, newPassword: NewPasswordSchema },
  { $id: 'PasswordChange', title: 'PasswordChange', ...strict }
)
export type PasswordChange = Static<typeof PasswordChangeSchema>

export const NewAdminSchema = Type.Object(
  {
    name: Type.String({
      pattern: ADMIN_NAME_PATTERN,
      description: '1 to 100 printable characters. Unique, ignoring the case of ASCII letters.'
    }),
    nickname: NicknameSchema,
    password: NewPasswordSchema
  },
  { $id: 'NewAdmin', title: 'NewAdmin', ...strict }
)
export type NewAdmin = Static<typeof NewAdminSchema>

export const AdminChangesSchema = Type.Object(
  { nickname: Type.Optional(NicknameSchema), password: Type.Optional(NewPasswordSchema) },
  { $id: 'AdminChanges', title: 'AdminChanges', minProperties: 1, ...strict }
)
export type AdminChanges = Static<typeof AdminChangesSchema>
