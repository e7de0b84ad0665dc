import { useQuery } from '@tanstack/react-query'
import { tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { Problem } from '../ui/page.tsx'
import { PermissionMatrix } from './permission-matrix.tsx'
import { ACTIONS, type SingleAction, sentenceOf } from './permissions.ts'
import styles from './tokens.module.css'

const BUNDLES = {
  read: ['read'],
  records: ['read', 'create', 'update', 'delete'],
  all: ACTIONS
} as const

export interface Choice {
  readonly tables: readonly string[]
  readonly actions: readonly SingleAction[]
}

export interface ChoiceProps extends Choice {
  readonly onChange: (changes: Partial<Choice>) => void
}

const Bundles = ({ onChange }: Pick<ChoiceProps, 'onChange'>) => (
  <fieldset className={styles.presets} aria-label={texts.bundles}>
    {(['read', 'records', 'all'] as const).map((bundle) => (
      <Button key={bundle} onClick={() => onChange({ actions: BUNDLES[bundle] })}>
        {texts.bundleNames[bundle]}
      </Button>
    ))}
  </fieldset>
)

/** The tables and actions of a token, and a sentence that says what they allow. */
export const PermissionFields = ({ tables, actions, onChange }: ChoiceProps) => {
  const registered = useQuery(tablesQuery)
  return (
    <>
      <p className={styles.hint}>{texts.permissionsHint}</p>
      <Bundles onChange={onChange} />
      {registered.isError && <Problem error={registered.error} onRetry={() => registered.refetch()} />}
      {registered.data && (
        <PermissionMatrix registered={registered.data} tables={tables} actions={actions} onChange={onChange} />
      )}
      <p className={styles.sentence} aria-live="polite">
        {sentenceOf({ tables: [...tables], actions: [...actions] })}
      </p>
    </>
  )
}
