import { settingProblem } from '../../config.ts'
import type { ErrorDetail } from '../../schemas/error.ts'
import type { SettingChanges, SettingName } from '../../schemas/settings.ts'
import { auditRow } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { invalid, noBackupsOnCluster } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { settingFixed } from './failures.ts'
import { deleteSetting, listSettings, storeSetting } from './setting-statements.ts'
import { SETTING_NAMES, type Settings, type StoredValues } from './settings.ts'

interface StoredSettingsOptions {
  readonly db: Pick<Database, 'read' | 'write' | 'replication'>
  readonly clock: Clock
  readonly settings: Settings
  /** Called for a stored value that breaks its rule. The default is used instead. */
  readonly onInvalid: (name: SettingName, problem: string) => void
}

type Change = readonly [name: SettingName, value: unknown]

/** The boundary where the names of a checked body get their type. */
const changesOf = (changes: SettingChanges) => Object.entries(changes) as readonly Change[]

const isKnown = (name: string): name is SettingName => SETTING_NAMES.some((known) => known === name)

/** Returns undefined for a text that is not JSON. */
const parseValue = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const problemOf = ([name, value]: Change) => (value === null ? null : settingProblem(name, value))

/** @throws VALIDATION_FAILED */
const assertValid = (changes: readonly Change[]) => {
  const details = changes.flatMap((change): ErrorDetail[] => {
    const problem = problemOf(change)
    const [name] = change
    return problem === null ? [] : [{ path: `/${name}`, code: 'format', message: `'${name}' ${problem}` }]
  })
  if (details.length > 0) throw invalid(details)
}

const toStatement = ([name, value]: Change, now: number) =>
  value === null ? deleteSetting(name) : storeSetting(name, JSON.stringify(value), now)

/** Stores values of the settings that can change while the service runs. `settings` holds them in memory. */
export const createStoredSettings = ({ db, clock, settings, onInvalid }: StoredSettingsOptions) => {
  const readRow = ({ name, value }: Row): Change[] => {
    const text = String(name)
    if (!isKnown(text)) return []
    const parsed = parseValue(String(value))
    const problem = settingProblem(text, parsed)
    if (problem === null) return [[text, parsed]]
    onInvalid(text, problem)
    return []
  }

  /** Loads all stored values. An invalid one is reported and not used. */
  const load = async () => {
    const rows = await db.read(listSettings)
    settings.replaceStored(Object.fromEntries(rows.flatMap(readRow)))
  }

  /** Applies changes in memory, when they are durable. */
  const apply = (changes: readonly Change[]) => {
    const values = Object.entries({ ...settings.stored(), ...Object.fromEntries(changes) })
    const stored: StoredValues = Object.fromEntries(values.filter(([, value]) => value !== null))
    settings.replaceStored(stored)
  }

  /** Stores all changes or none. Returns all settings. @throws VALIDATION_FAILED, SETTING_FIXED, NOT_ON_CLUSTER for backups */
  const update = async (caller: Caller, body: SettingChanges) => {
    const changes = changesOf(body)
    assertValid(changes)
    const fixed = changes.map(([name]) => name).filter(settings.isFixed)
    if (fixed.length > 0) throw settingFixed(fixed)
    if (db.replication && body.backups) throw noBackupsOnCluster()
    const now = clock()
    const summary = { changed: Object.keys(body), ...body }
    await db.write([
      ...changes.map((change) => toStatement(change, now)),
      auditRow(caller, now, { action: 'settings.change', summary })
    ])
    apply(changes)
    return settings.describeAll()
  }

  return { load, update, list: (_caller: Caller) => settings.describeAll() }
}

export type StoredSettings = ReturnType<typeof createStoredSettings>
