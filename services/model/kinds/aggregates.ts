import type { Column, Structure } from '../table.ts'
import { kindOf } from './kind-of.ts'

/**
 * Whether an aggregate can add the values of a column. SQLite does not know whether an expression of a view is a number. It
 * reads text that is no number as 0.
 */
export const canBeAdded = ({ isView }: Structure, column: Column) =>
  kindOf(column).isNumeric || (isView && kindOf(column).isUntyped)

/** Whether the values of a column can be dates: as text, or as epoch milliseconds. */
export const canBeDates = (column: Column) => kindOf(column).isTextual || kindOf(column).name === 'integer'
