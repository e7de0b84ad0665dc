import { foldName } from './names.ts'

/** The names in a grant of a role. */
interface NamedGrant {
  readonly tables: readonly string[]
  readonly actions: readonly string[]
}

/** An action on a table that two grants of a role name. `index`: that of the second one. */
export interface RepeatedGrant {
  readonly index: number
  readonly action: string
  /** Its name, in lower case. */
  readonly table: string
}

/** Returns the actions on tables that more than one grant names: it is not clear which of them applies. */
export const findRepeatedGrants = (grants: readonly NamedGrant[]): readonly RepeatedGrant[] => {
  const seen = new Set<string>()
  const repeated: RepeatedGrant[] = []
  for (const [index, { tables, actions }] of grants.entries()) {
    const pairs = actions.flatMap((action) => [...new Set(tables.map(foldName))].map((table) => ({ action, table })))
    for (const { action, table } of pairs) {
      const key = `${action} ${table}`
      if (seen.has(key)) repeated.push({ index, action, table })
      seen.add(key)
    }
  }
  return repeated
}

export const repeatedGrantMessage = ({ action, table }: RepeatedGrant) =>
  `Two grants name the action '${action}' and the table '${table}'.`

const isListOfTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string')

const isNamed = (grant: unknown): grant is NamedGrant => {
  const { tables, actions } = Object(grant)
  return isListOfTexts(tables) && isListOfTexts(actions)
}

/** Returns a sentence for each action on a table that two grants name. `text`: stored grants. Empty for other text. */
export const repeatedGrantMessages = (text: string): readonly string[] => {
  try {
    const grants: unknown = JSON.parse(text)
    return Array.isArray(grants) ? findRepeatedGrants(grants.filter(isNamed)).map(repeatedGrantMessage) : []
  } catch {
    return []
  }
}
