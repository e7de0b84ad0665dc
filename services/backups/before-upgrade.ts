import type { Upgrade } from '../engine/database.ts'
import type { DomainError } from '../model/errors.ts'
import { openBackupDirectory } from './directory.ts'

/** A migration of our own tables that has a backup. */
export interface BackedUpgrade {
  readonly from: number
  readonly to: number
  /** The path of the backup. */
  readonly backup: string
}

/** Returns the sentences about a migration that is done. */
export const describeUpgrade = ({ from, to, backup }: BackedUpgrade) =>
  `Upgraded the tables of Rowhouse from version ${from} to ${to}. The backup from before is ${backup}.`

const explain = ({ from, to }: Upgrade, error: unknown) => {
  const state = `The tables of Rowhouse must be upgraded from version ${from} to ${to}, but the backup before it cannot be made. The file was not changed.`
  const { message, hint } = error as Error & Pick<Partial<DomainError>, 'hint'>
  return new Error([state, message, hint].join(' ').trim(), { cause: error })
}

/**
 * Makes the backup of a file that is about to be migrated. The schedule never deletes it.
 * @throws an Error with the reason and the remedy
 */
export const backUpBeforeUpgrade = async (
  upgrade: Upgrade,
  options: Parameters<typeof openBackupDirectory>[0]
): Promise<BackedUpgrade> => {
  const { from, to, bytes, copy } = upgrade
  try {
    const directory = openBackupDirectory(options)
    await directory.assertSpace(bytes)
    const backup = await directory.add({ kind: 'before-upgrade', createdAt: Date.now() }, copy)
    return { from, to, backup: directory.pathOf(backup) }
  } catch (error) {
    throw explain(upgrade, error)
  }
}
