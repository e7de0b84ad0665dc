import { curl } from './curl.ts'
import { go } from './go.ts'
import { python } from './python.ts'
import { typescript } from './typescript.ts'

/** Each returns a program that sends a call. It reads the token from the environment: `ROWHOUSE_TOKEN`. */
export const WRITERS = { curl, typescript, python, go }

export type Language = keyof typeof WRITERS

export const LANGUAGES = ['curl', 'typescript', 'python', 'go'] as const satisfies readonly Language[]
