import type { IntegerFormat } from '../../schemas/token.ts'
import { integer } from './kinds/integer.ts'
import type { Checked } from './kinds/kind.ts'
import { kindOf } from './kinds/kind-of.ts'
import { checkLoose } from './kinds/loose.ts'
import type { Column, ColumnType } from './table.ts'

/** Returns what SQLite stores for a JSON value other than null in this column, or the violation. */
export const checkValue = (column: ColumnType, value: unknown, integers: IntegerFormat = 'auto'): Checked =>
  kindOf(column).check(value, column, integers)

/** Checks the `count` of an increment: an integer for integer fields, any number for other fields. */
export const checkCount = (column: Column, count: number | string, integers: IntegerFormat): Checked =>
  kindOf(column) === integer || typeof count === 'string' ? integer.check(count, column, integers) : checkLoose(count)
