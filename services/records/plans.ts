import type { Database } from '../engine/database.ts'
import type { Statement } from '../sql/statement.ts'
import type { View } from './view.ts'

/**
 * Whether statements about a table are bounded work, by SQLite's own account: which index serves depends on directions
 * and collations that others have declared, and on their statistics. Asked once per view, so again whenever another
 * program has committed. The words are those of https://sqlite.org/eqp.html.
 */
export const createPlans = (db: Database) => {
  const without = (step: RegExp) => {
    const known = new WeakMap<View, boolean>()
    const ask = async (view: View, statement: Statement) => {
      const steps = await db.plan(statement)
      const isWithout = !steps.some((text) => step.test(text))
      known.set(view, isWithout)
      return isWithout
    }
    return (view: View, statement: Statement): boolean | Promise<boolean> => known.get(view) ?? ask(view, statement)
  }

  return {
    /** Whether an index leads to the rows of a key. */
    usesIndex: without(/^SCAN /),
    /** Whether the rows of a page lie in its order. */
    isInOrder: without(/TEMP B-TREE/)
  }
}
