import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { texts } from '../texts/tokens.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Input, Select, TextArea } from '../ui/input.tsx'
import { CLAIM_KINDS, type ClaimDraft, type ClaimKind, isListKind, newClaim } from './claims.ts'
import styles from './tokens.module.css'

interface ClaimRowProps {
  readonly claim: ClaimDraft
  readonly place: number
  readonly problem: string | undefined
  readonly onChange: (changes: Partial<ClaimDraft>) => void
  readonly onRemove: () => void
}

const ClaimRow = ({ claim, place, problem, onChange, onRemove }: ClaimRowProps) => {
  const problemId = useId()
  const shared = {
    'aria-label': texts.claimValue(place),
    'aria-invalid': problem !== undefined,
    'aria-describedby': problemId,
    value: claim.text,
    spellCheck: false,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange({ text: target.value })
  }
  return (
    <div className={styles.claim}>
      <Input
        isMono
        aria-label={texts.claimName(place)}
        placeholder={texts.claimNameShort}
        autoCapitalize="none"
        spellCheck={false}
        value={claim.name}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <Select
        aria-label={texts.claimKind(place)}
        value={claim.kind}
        onChange={({ target }) => onChange({ kind: target.value as ClaimKind })}
      >
        {CLAIM_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {texts.claimKinds[kind]}
          </option>
        ))}
      </Select>
      {isListKind(claim.kind) ? (
        <TextArea {...shared} dir="auto" rows={3} placeholder={texts.claimLines} />
      ) : (
        <Input {...shared} dir="auto" isMono={claim.kind === 'json'} placeholder={texts.claimValueShort} />
      )}
      <IconButton label={texts.removeClaim(claim.name)} onClick={onRemove}>
        <X size={14} aria-hidden="true" />
      </IconButton>
      <span id={problemId} className={styles.problem}>
        {problem}
      </span>
    </div>
  )
}

interface ClaimRowsProps {
  readonly claims: readonly ClaimDraft[]
  readonly problems: ReadonlyMap<number, string>
  readonly onChange: (claims: readonly ClaimDraft[]) => void
}

/** The claims of a token: a name, and a value or a list of values. */
export const ClaimRows = ({ claims, problems, onChange }: ClaimRowsProps) => (
  <fieldset className={styles.claims}>
    <legend>{texts.claims}</legend>
    <p className={styles.hint}>{texts.claimsHint}</p>
    {claims.map((claim, index) => (
      <ClaimRow
        key={claim.id}
        claim={claim}
        place={index + 1}
        problem={problems.get(claim.id)}
        onChange={(changes) => onChange(claims.with(index, { ...claim, ...changes }))}
        onRemove={() => onChange(claims.toSpliced(index, 1))}
      />
    ))}
    <Button variant="quiet" onClick={() => onChange([...claims, newClaim()])}>
      <Plus size={14} aria-hidden="true" />
      {texts.addClaim}
    </Button>
  </fieldset>
)
