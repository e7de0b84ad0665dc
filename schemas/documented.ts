import type { TSchema } from '@sinclair/typebox'

/** The key of a schema that holds the schema to show in the document. */
export const DOCUMENTED_KEY = 'x-documented'

/**
 * Returns a schema that validates as `accepted` and that the document shows as `documented`. Generators cannot express
 * some schemas, such as unions of primitive types.
 */
export const documentedAs = <T extends TSchema>(accepted: T, documented: TSchema): T => ({
  ...accepted,
  [DOCUMENTED_KEY]: documented
})
