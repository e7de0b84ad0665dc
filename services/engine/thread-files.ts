import { extname } from 'node:path'

/** The entry files of the threads. This file is where both the modules and the bundle find them by the same path. */
const threadFile = (path: string) => new URL(`./${path}${extname(import.meta.url)}`, import.meta.url)

export const writerFile = threadFile('writer/writer')
export const readerFile = threadFile('reader/reader')
