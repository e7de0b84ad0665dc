import { type Static, Type } from '@sinclair/typebox'
import { Envelope, strict, timestampSchema } from './envelope.ts'
import { Int64, NullableInt64 } from './numbers.ts'

/** The audited actions. The word before the first dot is a group, by which rows are filtered. */
export const AUDIT_ACTIONS = [
  'login',
  'login.failed',
  'logout',
  'password.change',
  'session.end',
  'token.issue',
  'token.change',
  'token.rotate',
  'token.revoke',
  'token.view',
  'key.issue',
  'key.revoke',
  'role.create',
  'role.change',
  'role.delete',
  'table.create',
  'table.adopt',
  'table.change',
  'table.rename',
  'table.refresh',
  'table.unregister',
  'table.drop',
  'field.add',
  'field.change',
  'field.drop',
  'index.create',
  'index.drop',
  'search-index.create',
  'search-index.drop',
  'admin.create',
  'admin.change',
  'admin.reset-password',
  'admin.delete',
  'import',
  'export',
  'settings.change',
  'backup.create',
  'backup.delete',
  'backup.download',
  'backup.upload',
  'backup.restore'
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** `local`: a command on the machine of the service. */
const CALLER_KINDS = ['token', 'admin', 'key', 'anonymous', 'service', 'local'] as const
export type AuditCallerKind = (typeof CALLER_KINDS)[number]

const idExample = { examples: [412] }
const nameExample = { examples: ['maria'] }
const targetExample = { examples: ['products'] }

const AuditRowSchema = Type.Object(
  {
    id: Int64({ minimum: 1, description: 'Id of the row. Later rows have higher ids.', ...idExample }),
    at: timestampSchema('Time of the change.'),
    callerKind: Type.Unsafe<AuditCallerKind>({
      type: 'string',
      enum: [...CALLER_KINDS],
      description:
        'Who made the change: a `token`, an administrator (`admin`), an admin key (`key`), somebody without a credential (`anonymous`), the `service` itself, or a command on its machine (`local`).',
      examples: ['admin']
    }),
    callerId: Int64({
      minimum: 0,
      description:
        'Id of the token, administrator or admin key. 0 for the other kinds, for a JWT and for the public role.',
      examples: [1]
    }),
    callerName: Type.String({
      description:
        'Name that the token, administrator or admin key had. For a JWT its `iss` and `sub`, for the public role `public`. Empty without one.',
      ...nameExample
    }),
    address: Type.String({
      description: 'IP address of the client. For failed logins, its network. Empty if not known.',
      examples: ['192.0.2.7']
    }),
    requestId: Type.String({
      description: 'The `X-Request-Id` of the response. Empty without a request.',
      examples: ['b8c1d2e3-0f4a-4b5c-8d6e-7f8091a2b3c4']
    }),
    // Without the values: some generators make names of them.
    action: Type.Unsafe<AuditAction>({ type: 'string', description: 'The action.', examples: ['table.change'] }),
    target: Type.String({
      description:
        'Name that the table, token, administrator or other target had before the change. Empty without one.',
      ...targetExample
    }),
    targetId: NullableInt64({
      description: 'Id of the target. null: the change created it, or there is none.',
      examples: [3]
    }),
    summary: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What changed, without passwords, tokens and values of records.',
      examples: [{ changed: ['label', 'isPublished'], isPublished: false }]
    }),
    count: Int64({ minimum: 1, description: 'The number of failed logins. 1 for other actions.', examples: [1] })
  },
  { title: 'AdminAuditRow', description: 'One change of the installation.', ...strict }
)
export type AuditRow = Static<typeof AuditRowSchema>

const AuditPageSchema = Type.Object(
  {
    rows: Type.Array(AuditRowSchema, { description: 'The rows, the latest first.' }),
    next: NullableInt64({
      description: '`before` of the next page. null: this page is the last one.',
      ...idExample
    })
  },
  { title: 'AdminAuditPage', description: 'A page of the audit.', ...strict }
)
export type AuditPage = Static<typeof AuditPageSchema>
export const AuditPageEnvelope = Envelope('AdminAuditPageEnvelope', AuditPageSchema)

const filterText = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description, examples: [example] }))

const filterTime = (description: string) =>
  Type.Optional(Int64({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1767225600000] }))

const filter = {
  action: filterText('Only this action, or a group: `token` finds `token.issue` and all others of tokens.', 'token'),
  caller: filterText('Only changes by a caller of this name, ignoring the case of ASCII letters.', 'maria'),
  target: filterText('Only changes of a target of this name, ignoring the case of ASCII letters.', 'products'),
  from: filterTime('Only rows of this time or later, in epoch milliseconds.'),
  to: filterTime('Only rows before this time, in epoch milliseconds.')
}

export const AuditFilterSchema = Type.Object(filter, strict)
export type AuditFilter = Static<typeof AuditFilterSchema>

export const AuditQuerySchema = Type.Object(
  {
    ...filter,
    size: Type.Optional(
      Int64({ minimum: 1, maximum: 1000, description: 'Rows of the page. The default is 50.', examples: [50] })
    ),
    before: Type.Optional(
      Int64({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only rows with a lower id: `next` of the previous response, with the same filter.',
        ...idExample
      })
    )
  },
  strict
)
export type AuditQuery = Static<typeof AuditQuerySchema>

const EXAMPLE =
  '{"id":412,"at":1767225600000,"callerKind":"admin","callerId":1,"callerName":"maria","action":"logout"}\n'

export const AuditExportSchema = {
  description:
    'The rows as NDJSON in UTF-8, one line for each, the latest first, with the properties of a list. It is compressed if the request accepts gzip.',
  content: {
    'application/x-ndjson': { schema: Type.String({ description: 'A line for each row.', examples: [EXAMPLE] }) }
  }
}
