import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { claimNames } from '../roles/grants.ts'
import { rolesQuery } from '../roles/queries.ts'
import { texts } from '../texts/tokens.ts'
import { SelectField } from '../ui/field.tsx'
import { Problem } from '../ui/page.tsx'
import { ClaimRows } from './claim-rows.tsx'
import { withClaimsOf } from './claims.ts'
import type { TokenDraft } from './draft.ts'
import styles from './tokens.module.css'

type RoleChoice = Pick<TokenDraft, 'role' | 'claims'>

interface RoleFieldsProps extends RoleChoice {
  readonly error: string | undefined
  /** What is wrong with the claims, by their id. */
  readonly problems: ReadonlyMap<number, string>
  readonly onChange: (changes: Partial<RoleChoice>) => void
}

/** The role of a token, and the values for the claims that its rules use. */
export const RoleFields = ({ role, claims, error, problems, onChange }: RoleFieldsProps) => {
  const roles = useQuery(rolesQuery)
  const known = roles.data ?? []
  const chosen = known.find(({ name }) => name === role)
  const choose = (name: string) => {
    const used = claimNames(known.find((other) => other.name === name)?.grants ?? [])
    onChange({ role: name, claims: withClaimsOf(claims, used) })
  }
  return (
    <>
      {roles.isError && <Problem error={roles.error} onRetry={() => roles.refetch()} />}
      <SelectField
        label={texts.role}
        hint={
          <>
            {chosen ? texts.roleUses(claimNames(chosen.grants)) : texts.roleHint}{' '}
            {chosen ? (
              <Link href={`/roles/${chosen.id}`}>{texts.showRole(chosen.name)}</Link>
            ) : (
              <Link href="/roles">{texts.toRoles}</Link>
            )}
          </>
        }
        required
        value={role}
        error={error}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{texts.chooseRole}</option>
        {role !== '' && !chosen && <option value={role}>{role}</option>}
        {known.map(({ id, name }) => (
          <option key={id} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      <ClaimRows claims={claims} problems={problems} onChange={(changed) => onChange({ claims: changed })} />
      {role !== '' && <p className={styles.sentence}>{texts.roleSentence(role)}</p>}
    </>
  )
}
