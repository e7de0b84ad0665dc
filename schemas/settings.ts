import { type Static, type StringOptions, Type } from '@sinclair/typebox'
import { Envelope, strict } from './envelope.ts'
import { Int32 } from './numbers.ts'
import { BACKUP_KEEP_PATTERN, DAYS_PATTERN, LOG_LEVEL_PATTERN } from './patterns.ts'

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** The rules of settings that can change while the service runs. Their variables have the same ones. */
export const settingRules = {
  logLevel: { pattern: LOG_LEVEL_PATTERN },
  corsOrigins: { maxLength: 10_000 },
  maxPageSize: { minimum: 1, maximum: 10_000 },
  backups: { maxLength: 1000 },
  backupKeep: { pattern: BACKUP_KEEP_PATTERN, maxLength: 1000 },
  auditKeep: { pattern: DAYS_PATTERN }
} as const

/** The values, as their variables have them. */
export interface SettingValues {
  readonly logLevel: LogLevel
  /** Exact origins, comma-separated. */
  readonly corsOrigins: string
  readonly maxPageSize: number
  /** A cron expression. Empty: no scheduled backups. */
  readonly backups: string
  readonly backupKeep: string
  readonly auditKeep: string
}
export type SettingName = keyof SettingValues
export type SettingSource = 'variable' | 'stored' | 'default'

// Without the values: some generators make names of them.
const source = Type.Unsafe<SettingSource>({
  type: 'string',
  description:
    'Where the value comes from: the `variable` of the process or an option of its command line, the value that was `stored` with PUT /admin/settings, or the `default`.',
  examples: ['stored']
})

const variable = (example: string) =>
  Type.String({
    description: 'The variable of the same setting. Its value overrides a stored one.',
    examples: [example]
  })

const TextSettingSchema = Type.Object(
  {
    value: Type.String({ description: 'The value in use.', examples: ['warn'] }),
    source,
    variable: variable('LOG_LEVEL')
  },
  { title: 'AdminTextSetting', description: 'A setting whose value is a text.', ...strict }
)

const IntegerSettingSchema = Type.Object(
  {
    value: Int32({ description: 'The value in use.', examples: [1000] }),
    source,
    variable: variable('MAX_PAGE_SIZE')
  },
  { title: 'AdminIntegerSetting', description: 'A setting whose value is an integer.', ...strict }
)

const SettingsSchema = Type.Object(
  {
    logLevel: TextSettingSchema,
    corsOrigins: TextSettingSchema,
    maxPageSize: IntegerSettingSchema,
    backups: TextSettingSchema,
    backupKeep: TextSettingSchema,
    auditKeep: TextSettingSchema
  },
  { title: 'AdminSettings', description: 'The settings that can change while the service runs.', ...strict }
)
export type DescribedSettings = Static<typeof SettingsSchema>
export const SettingsEnvelope = Envelope('AdminSettingsEnvelope', SettingsSchema)

const nullableText = <T extends string>(options: StringOptions) =>
  Type.Optional(Type.Unsafe<T | null>({ type: ['string', 'null'], ...options }))

export const SettingChangesSchema = Type.Object(
  {
    logLevel: nullableText<LogLevel>({
      ...settingRules.logLevel,
      description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. null: the default.',
      examples: ['info']
    }),
    corsOrigins: nullableText({
      ...settingRules.corsOrigins,
      description: 'Exact origins whose pages may call the API, comma-separated. Empty: none. null: the default.',
      examples: ['https://app.example.org']
    }),
    maxPageSize: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        format: 'int32',
        ...settingRules.maxPageSize,
        description: 'Maximum `size` of a page. null: the default.',
        examples: [1000]
      })
    ),
    backups: nullableText({
      ...settingRules.backups,
      description: 'When to make a backup, as a cron expression. Empty: never. null: the default.',
      examples: ['0 3 * * *']
    }),
    backupKeep: nullableText({
      ...settingRules.backupKeep,
      description: 'Scheduled backups to keep, in days, weeks and months. Empty: all. null: the default.',
      examples: ['7d,4w,6m']
    }),
    auditKeep: nullableText({
      ...settingRules.auditKeep,
      description: 'Days for which the audit is kept. Older rows are deleted at once. null: the default.',
      examples: ['400d']
    })
  },
  {
    title: 'AdminSettingsUpdate',
    description: 'The settings to change. null removes a stored value.',
    minProperties: 1,
    ...strict
  }
)
export type SettingChanges = Static<typeof SettingChangesSchema>
