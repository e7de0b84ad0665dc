import { isObject, type Json, mapValues } from './json.ts'

const targetOf = (reference: unknown, schemas: Json) => schemas[String(reference).split('/').at(-1) as string]

/** Returns an example of the schema: its own, or one composed from those of its parts. */
const exampleOf = (schema: unknown, schemas: Json): unknown => {
  if (!isObject(schema)) return undefined
  if (schema.$ref !== undefined) return exampleOf(targetOf(schema.$ref, schemas), schemas)
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema.type === 'array') return [exampleOf(schema.items, schemas)]
  return mapValues(schema.properties, (property) => exampleOf(property, schemas))
}

/** Adds an example to a media type that has none. */
const withExample = (media: unknown, schemas: Json): unknown => {
  if (!isObject(media) || media.schema === undefined || media.example !== undefined) return media
  return { ...media, example: exampleOf(media.schema, schemas) }
}

const isBody = (value: Json) => isObject(value.content)

/** Returns the paths with an example for each request and each response. */
export const withExamples = <T>(value: T, schemas: Json): T => {
  const visit = (item: unknown): unknown => {
    if (!isObject(item) || Array.isArray(item)) return item
    if (!isBody(item)) return mapValues(item, visit)
    return { ...item, content: mapValues(item.content, (media) => withExample(media, schemas)) }
  }
  return visit(value) as T
}
