import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { claimNames } from '../roles/grants.ts'
import { rolesQuery } from '../roles/queries.ts'
import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { SelectField } from '../ui/field.tsx'
import { Problem } from '../ui/page.tsx'
import { ClaimRows } from './claim-rows.tsx'
import { toClaims, withClaimsOf } from './claims.ts'
import type { TokenDraft } from './draft.ts'
import styles from './tokens.module.css'

type RoleChoice = Pick<TokenDraft, 'role' | 'claims'>

interface RoleFieldsProps extends RoleChoice {
  readonly error: string | undefined
  /** The problems of the claims, by their id. */
  readonly problems: ReadonlyMap<number, string>
  readonly onChange: (changes: Partial<RoleChoice>) => void
}

/** The role of a token, and the values for the claims that its rules use. */
export const RoleFields = ({ role, claims, error, problems, onChange }: RoleFieldsProps) => {
  const roles = useQuery(rolesQuery)
  const known = roles.data ?? []
  const chosen = known.find(({ name }) => name === role)
  const used = claimNames(chosen?.grants ?? [])
  const missing = used.filter((name) => !claims.some((claim) => claim.name === name))
  const choose = (name: string) => {
    const needed = claimNames(known.find((other) => other.name === name)?.grants ?? [])
    onChange({ role: name, claims: withClaimsOf(claims, needed) })
  }
  return (
    <>
      {roles.isError && <Problem error={roles.error} onRetry={() => roles.refetch()} />}
      <SelectField
        label={texts.role}
        hint={
          <>
            {chosen ? texts.roleUses(used) : texts.roleHint}{' '}
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
      {missing.length > 0 && (
        <p className={styles.warning}>
          {texts.missingClaims(missing)}{' '}
          <Button onClick={() => onChange({ claims: withClaimsOf(claims, used) })}>{texts.addMissing}</Button>
        </p>
      )}
      {role !== '' && (
        <p className={styles.sentence} aria-live="polite">
          {texts.roleSentence(role, toClaims(claims))}
        </p>
      )}
    </>
  )
}
