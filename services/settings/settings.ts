import { type Config, settingVariables } from '../../config.ts'
import type { DescribedSettings, SettingName, SettingSource, SettingValues } from '../../schemas/settings.ts'

/** The names of the settings that can change while the service runs. */
export const SETTING_NAMES = Object.keys(settingVariables) as readonly SettingName[]

export type StoredValues = Partial<SettingValues>

type Listener<N extends SettingName> = (value: SettingValues[N]) => void

const startValues = (config: Config): SettingValues => ({
  logLevel: config.LOG_LEVEL,
  corsOrigins: config.CORS_ORIGIN,
  maxPageSize: config.MAX_PAGE_SIZE,
  backups: config.BACKUPS,
  backupKeep: config.BACKUP_KEEP,
  auditKeep: config.AUDIT_KEEP
})

/**
 * Holds the values of the settings that can change while the service runs. A variable overrides a stored value, and a
 * stored value the default. Until `replaceStored`, no value is stored.
 */
export const createSettings = (config: Config) => {
  const started = startValues(config)
  const listeners: (() => void)[] = []
  let stored: StoredValues = {}
  let current = started

  const isFixed = (name: SettingName) => config.variables.has(settingVariables[name])

  const get = <N extends SettingName>(name: N): SettingValues[N] => current[name]

  /** Calls the listener with each new value. The listener must not throw. */
  const onChange = <N extends SettingName>(name: N, listener: Listener<N>) => {
    let last = get(name)
    listeners.push(() => {
      const value = get(name)
      if (value === last) return
      last = value
      listener(value)
    })
  }

  /** Replaces all stored values, and calls the listeners of those that change. */
  const replaceStored = (values: StoredValues) => {
    stored = values
    const used = SETTING_NAMES.filter((name) => values[name] !== undefined && !isFixed(name))
    current = { ...started, ...Object.fromEntries(used.map((name) => [name, values[name]])) }
    for (const listener of listeners) listener()
  }

  const sourceOf = (name: SettingName): SettingSource => {
    if (isFixed(name)) return 'variable'
    return stored[name] === undefined ? 'default' : 'stored'
  }

  const describe = <N extends SettingName>(name: N) => ({
    value: get(name),
    source: sourceOf(name),
    variable: settingVariables[name]
  })

  return {
    get,
    onChange,
    replaceStored,
    isFixed,
    /** Returns the stored values, including those that a variable overrides. */
    stored: () => stored,
    describeAll: (): DescribedSettings => ({
      logLevel: describe('logLevel'),
      corsOrigins: describe('corsOrigins'),
      maxPageSize: describe('maxPageSize'),
      backups: describe('backups'),
      backupKeep: describe('backupKeep'),
      auditKeep: describe('auditKeep')
    })
  }
}

export type Settings = ReturnType<typeof createSettings>
