import { type Static, Type } from '@sinclair/typebox'
import { strict, TimestampSchema } from './envelope.ts'
import { ADMIN_NAME_PATTERN } from './patterns.ts'

/** The longest password that is ever set; longer ones may be tried at login, and fail like any other wrong one. */
const LONGEST_PASSWORD = 256

export const AdminSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    nickname: Type.String(),
    mustChangePassword: Type.Boolean({ description: 'Whether the password was set by somebody else.' })
  },
  { $id: 'Admin', title: 'Admin', description: 'The administrator who is logged in.', ...strict }
)
export type Admin = Static<typeof AdminSchema>

export const AdminAccountSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    nickname: Type.String(),
    must_change_password: Type.Integer({ minimum: 0, maximum: 1 }),
    created_at: TimestampSchema,
    updated_at: TimestampSchema
  },
  { $id: 'AdminAccount', title: 'AdminAccount', description: 'An administrator as others manage it.', ...strict }
)
export type AdminAccount = Static<typeof AdminAccountSchema>

/** What is only compared may have any length that is cheap to hash; rules of length hold where a password is set. */
const AnyPasswordSchema = Type.String({ minLength: 1, maxLength: 1024 })

const NewPasswordSchema = Type.String({
  minLength: 1,
  maxLength: LONGEST_PASSWORD,
  description: `At least PASSWORD_MIN_LENGTH characters (8 unless configured), at most ${LONGEST_PASSWORD}.`
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
      description: '1 to 100 printable characters, unique ignoring case.'
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
