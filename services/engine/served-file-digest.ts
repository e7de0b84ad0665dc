import { hash } from 'node:crypto'

/** Several services may share a data directory: the names of their files there have a digest of the served file's path. */
export const digestOf = (servedFile: string) => hash('sha256', servedFile).slice(0, 16)
