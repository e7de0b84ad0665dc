import { type Static, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'

/** Every setting, each an environment variable of the same name. README.md shows the same table. */
const ConfigSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
  DATA_DIR: Type.String({ default: './data', minLength: 1 }),
  DATABASE: Type.Optional(Type.String({ minLength: 1 })),
  ADMIN_NAME: Type.String({ default: 'admin', pattern: '^[\\x20-\\x7e]{1,100}$' }),
  ADMIN_PASSWORD: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  JWT_SECRET: Type.Optional(Type.String({ minLength: 32 })),
  SESSION_TTL: Type.Integer({ default: 43_200, minimum: 60, maximum: 31_536_000, description: 'Seconds.' }),
  REQUIRE_PASSWORD_CHANGE: Type.Boolean({ default: false }),
  PASSWORD_MIN_LENGTH: Type.Integer({ default: 8, minimum: 8, maximum: 256 }),
  MAX_PAGE_SIZE: Type.Integer({ default: 1000, minimum: 1, maximum: 10_000 }),
  BODY_LIMIT: Type.Integer({ default: 1_048_576, minimum: 1024, maximum: 1_073_741_824, description: 'Bytes.' }),
  CACHE_SIZE: Type.Integer({ default: 64, minimum: 1, maximum: 65_536, description: 'MiB of pages a connection.' }),
  TRUST_PROXY: Type.String({ default: '', description: 'Addresses or networks of proxies, comma-separated.' }),
  CORS_ORIGIN: Type.String({ default: '', description: 'Exact origins, comma-separated.' }),
  LOG_LEVEL: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'warn'
  }),
  ACCESS_LOG: Type.Boolean({ default: false })
})
export type Config = Static<typeof ConfigSchema>

const ajv = new Ajv({ coerceTypes: true, useDefaults: true, allErrors: true, removeAdditional: true })
const validate = ajv.compile<Config>({ ...ConfigSchema, additionalProperties: false })

/** @throws an Error that names each variable that is wrong, and what it must be. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const config: unknown = { ...env }
  if (validate(config)) return config
  const faults = ajv.errorsText(validate.errors, { dataVar: '', separator: '; ' }).replaceAll('/', '')
  throw new Error(`The configuration is not valid: ${faults}.`)
}
