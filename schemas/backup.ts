import { type Static, Type } from '@sinclair/typebox'
import { CreatedAtSchema, Envelope, strict, timestampSchema } from './envelope.ts'
import type { BodyChunks } from './import.ts'
import { Int64 } from './numbers.ts'
import { BACKUP_NAME_PATTERN } from './patterns.ts'

export const BACKUP_TYPE = 'application/vnd.sqlite3'

export type BackupKind = 'scheduled' | 'manual' | 'upload' | 'before-restore' | 'before-upgrade'

const NameSchema = Type.String({
  pattern: BACKUP_NAME_PATTERN,
  description: 'Name of the backup: its time in UTC and its kind.',
  examples: ['2026-11-26T03-00-00Z-scheduled.db']
})

export const BackupParamsSchema = Type.Object({ name: NameSchema }, strict)

// Without the values: some generators make names of them.
const KindSchema = Type.Unsafe<BackupKind>({
  type: 'string',
  description:
    'Why it was made: `scheduled` by `BACKUPS`, `manual` by a request, `upload` by an upload, `before-restore` by a restore, of the state before it, `before-upgrade` by the start of a newer Rowhouse.',
  examples: ['scheduled']
})

const BackupSchema = Type.Object(
  {
    name: NameSchema,
    kind: KindSchema,
    createdAt: CreatedAtSchema,
    bytes: Int64({ description: 'Size of the file.', examples: [1048576] })
  },
  { title: 'AdminBackup', description: 'A backup: one SQLite file.', ...strict }
)
export type Backup = Static<typeof BackupSchema>

const RunningBackupSchema = Type.Object(
  {
    kind: KindSchema,
    startedAt: timestampSchema('Time of the start.'),
    copiedBytes: Int64({
      description: 'Bytes that are copied. A restore first copies the present state, then the backup.',
      examples: [524288]
    }),
    totalBytes: Int64({ description: 'Bytes of the whole backup. 0: not known yet.', examples: [1048576] })
  },
  { title: 'AdminRunningBackup', description: 'A backup that is being made or restored.', ...strict }
)
export type RunningBackup = Static<typeof RunningBackupSchema>

const BackupListSchema = Type.Object(
  {
    backups: Type.Array(BackupSchema, { description: 'All backups, the latest first.' }),
    running: Type.Optional(RunningBackupSchema)
  },
  { title: 'AdminBackupList', description: 'The backups, and the one that is being made, if any.', ...strict }
)
export type BackupList = Static<typeof BackupListSchema>

export const BackupEnvelope = Envelope('AdminBackupEnvelope', BackupSchema)
export const BackupListEnvelope = Envelope('AdminBackupListEnvelope', BackupListSchema)

export const RestoreQuerySchema = Type.Object(
  {
    include: Type.Optional(
      Type.Unsafe<'access'>({
        type: 'string',
        enum: ['access'],
        examples: ['access'],
        description:
          'Takes the administrators, tokens and roles of the backup, too. All sessions end, all tokens are switched off, and all admin keys are deleted. No admin key can send this.'
      })
    )
  },
  strict
)

const RestoreResultSchema = Type.Object(
  { before: BackupSchema },
  { title: 'AdminBackupRestored', description: 'The backup of the state before the restore.', ...strict }
)
export type RestoreResult = Static<typeof RestoreResultSchema>
export const RestoreResultEnvelope = Envelope('AdminBackupRestoredEnvelope', RestoreResultSchema)

const fileSchema = (description: string) =>
  Type.Unsafe<BodyChunks>({ type: 'string', format: 'binary', description, examples: ['SQLite format 3'] })

export const BackupFileSchema = {
  description: 'The file. With `Range`, the status is 206 and the body a part of it.',
  content: {
    [BACKUP_TYPE]: {
      schema: Type.String({ format: 'binary', description: 'A SQLite file.', examples: ['SQLite format 3'] })
    }
  }
}

export const BackupUploadSchema = {
  description: 'A backup that was downloaded before.',
  content: { [BACKUP_TYPE]: { schema: fileSchema('A SQLite file.') } }
}

export const BackupHeadersSchema = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'The `ETag` of an earlier download: 304 if it is the same file.',
      examples: ['W/"100000-19c9f0a1b2c"']
    })
  ),
  Range: Type.Optional(Type.String({ description: 'The bytes to download.', examples: ['bytes=1048576-'] })),
  'If-Range': Type.Optional(
    Type.String({
      description: 'The `ETag` of an earlier download: the whole file if it is another one.',
      examples: ['W/"100000-19c9f0a1b2c"']
    })
  )
})
