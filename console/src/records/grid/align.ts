import type { TableField } from '../../tables/queries.ts'
import { isNumeric } from '../fields/kind.ts'

/** Whether the values of a field stand at the right, as `FieldValue` shows them. */
export const isRight = (field: TableField) => isNumeric(field) && !field.references
