import type { UpgradeReport } from '../services/engine/reader/file-report.ts'

/** Returns the sentences about the version of a file, and about what the next start changes. */
export const upgradeText = ({ version, latestVersion, upgrade }: UpgradeReport) => {
  if (version === latestVersion) return 'The tables of Rowhouse are up to date.'
  const state =
    version === 0
      ? 'The file has no tables of Rowhouse.'
      : `The tables of Rowhouse have version ${version} of ${latestVersion}.`
  return `${state} The next start changes ${upgrade.join(', ')}.`
}
