import { extname } from 'node:path'

/** Resolved from this file's folder, where the sources and the bundle have the entry files at the same paths. */
const threadFile = (path: string) => new URL(`./${path}${extname(import.meta.url)}`, import.meta.url)

export const writerFile = threadFile('writer/writer')
export const readerFile = threadFile('reader/reader')
/** The thread that checks the file of an import. */
export const stagingFile = threadFile('staging/staging')
/** The process that runs statements on SQL views. */
export const viewProcessFile = threadFile('reader/view-process')
/** The process that makes, checks or restores a backup. */
export const backupProcessFile = threadFile('backup/backup-process')
