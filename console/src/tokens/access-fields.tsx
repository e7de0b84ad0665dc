import { texts } from '../texts/tokens.ts'
import { Segments } from '../ui/segments.tsx'
import type { TokenDraft } from './draft.ts'
import { PermissionFields } from './permission-fields.tsx'
import { RoleFields } from './role-fields.tsx'
import styles from './tokens.module.css'

interface AccessFieldsProps {
  readonly draft: TokenDraft
  readonly roleError: string | undefined
  /** The problems of the claims, by their id. */
  readonly claimProblems: ReadonlyMap<number, string>
  readonly onChange: (changes: Partial<TokenDraft>) => void
}

const OPTIONS = (['permissions', 'role'] as const).map((value) => ({ value, label: texts.accessKinds[value] }))

/** What a token opens: permissions of its own, or a role. */
export const AccessFields = ({ draft, roleError, claimProblems, onChange }: AccessFieldsProps) => (
  <section className={styles.permissions} aria-label={texts.access}>
    <div className={styles.accessHead}>
      <h2>{texts.access}</h2>
      <Segments
        label={texts.accessBy}
        options={OPTIONS}
        value={draft.access}
        onChange={(access) => onChange({ access })}
      />
    </div>
    {draft.access === 'role' ? (
      <RoleFields
        role={draft.role}
        claims={draft.claims}
        error={roleError}
        problems={claimProblems}
        onChange={onChange}
      />
    ) : (
      <PermissionFields tables={draft.tables} actions={draft.actions} onChange={onChange} />
    )}
  </section>
)
