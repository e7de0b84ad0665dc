import type { GrantProblems } from './draft.ts'

type Violations = ReadonlyMap<string, string>

/** The parts of a grant that show their problems. */
const PARTS = ['tables', 'actions', 'rows', 'fields', 'presets'] as const

const isIn = (path: string, part: string) => path === part || path.startsWith(`${part}/`)

/** Returns the first sentence about a part, or about something in it. */
const violationAt = (violations: Violations, part: string) => [...violations].find(([path]) => isIn(path, part))?.[1]

/** Adds what the service has refused of a grant. */
export const withViolations = (problems: GrantProblems, violations: Violations, index: number): GrantProblems => {
  const refused = (part: string) => violationAt(violations, `grants/${index}/${part}`)
  return {
    ...problems,
    tables: problems.tables ?? refused('tables'),
    actions: problems.actions ?? refused('actions'),
    rows: problems.rows ?? refused('rows'),
    presets: problems.presets ?? refused('presets')
  }
}

/** Returns what the service has refused of the fields of a grant, and of the grant as a whole. */
export const otherViolations = (violations: Violations, index: number) => {
  const path = `grants/${index}`
  const others = [...violations].filter(([at]) => isIn(at, path) && !PARTS.some((part) => isIn(at, `${path}/${part}`)))
  return { fields: violationAt(violations, `${path}/fields`), others: others.map(([, message]) => message) }
}

/** Whether the form of a role shows a violation at its place. */
export const isShownAt = (path: string, grants: number) =>
  path === 'name' || Array.from({ length: grants }, (_, index) => `grants/${index}`).some((part) => isIn(path, part))
