import { Link } from 'wouter'
import type { components } from '../api/schema.d.ts'
import { texts } from '../texts/overview.ts'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import styles from './overview.module.css'

type Token = components['schemas']['Token']

const MAX_SHOWN = 8

const stateOf = ({ is_active, expires_at }: Token) => {
  if (is_active === false) return texts.inactive
  return expires_at !== null && expires_at < Date.now() ? texts.expired : ''
}

const byLastUse = (one: Token, other: Token) => (other.last_used_at ?? 0) - (one.last_used_at ?? 0)

/** The tokens that were used last. */
export const TokenUses = ({ tokens }: { readonly tokens: readonly Token[] }) => {
  if (tokens.length === 0) {
    return (
      <Empty title={texts.noTokens}>
        <LinkButton href="/tokens/new">{texts.newToken}</LinkButton>
      </Empty>
    )
  }
  return (
    <ul className={styles.rows}>
      {[...tokens]
        .sort(byLastUse)
        .slice(0, MAX_SHOWN)
        .map((token) => (
          <li key={token.id} className={styles.row}>
            <Link href={`/tokens/${token.id}`} className={styles.name} dir="auto">
              {token.name}
            </Link>
            <span className={styles.note}>{stateOf(token)}</span>
            <Time value={token.last_used_at} />
          </li>
        ))}
    </ul>
  )
}
