import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import type { Draft } from './draft.ts'

/** What stands in an empty editor: NULL and empty text look different there, too. */
export const placeholderOf = (field: TableField, value: Draft) => {
  if (value === null) return texts.null
  if (value === '') return texts.emptyText
  if (value !== undefined) return undefined
  if (field.defaultKind !== 'none') return texts.default(String(field.defaultValue))
  if (field.isRequired) return texts.required
  return field.isPrimary && field.jsonType === 'integer' ? texts.generated : texts.null
}
