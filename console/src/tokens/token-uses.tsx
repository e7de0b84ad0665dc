import { useQuery } from '@tanstack/react-query'
import { texts } from '../texts/tokens.ts'
import { Problem } from '../ui/page.tsx'
import { type TokenUse, tokenUsesQuery } from './queries.ts'
import styles from './token-uses.module.css'

const numbers = new Intl.NumberFormat('en')

const widthOf = (count: number, max: number) => ({ width: `${(100 * count) / max}%` })

/** The parts of the requests of a day, as long as their share of the day with the most requests. */
const Bar = ({ use: { requests, refused, failed }, max }: { readonly use: TokenUse; readonly max: number }) => (
  <span className={styles.bar} aria-hidden="true">
    <span className={styles.others} style={widthOf(Math.max(0, requests - refused - failed), max)} />
    <span className={styles.refused} style={widthOf(refused, max)} />
    <span className={styles.failed} style={widthOf(failed, max)} />
  </span>
)

const Count = ({ value, mark }: { readonly value: number; readonly mark: string | undefined }) => (
  <td className={value > 0 ? mark : styles.none}>{numbers.format(value)}</td>
)

const Days = ({ uses }: { readonly uses: readonly TokenUse[] }) => {
  const max = Math.max(1, ...uses.map(({ requests, refused, failed }) => Math.max(requests, refused + failed)))
  const { day, requests, refused, failed } = texts.useColumns
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section className={styles.scroll} aria-label={texts.uses} tabIndex={0}>
      <table className={styles.table} aria-label={texts.uses}>
        <thead>
          <tr>
            <th scope="col">{day}</th>
            <th scope="col" colSpan={2}>
              {requests}
            </th>
            <th scope="col">{refused}</th>
            <th scope="col">{failed}</th>
          </tr>
        </thead>
        <tbody>
          {uses.map((use) => (
            <tr key={use.day}>
              <th scope="row">{use.day}</th>
              <td className={styles.chart}>
                <Bar use={use} max={max} />
              </td>
              <td>{numbers.format(use.requests)}</td>
              <Count value={use.refused} mark={styles.refusedCount} />
              <Count value={use.failed} mark={styles.failedCount} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The requests of a token on each day with use. */
export const TokenUses = ({ id }: { readonly id: number }) => {
  const uses = useQuery(tokenUsesQuery(id))
  return (
    <section className={styles.uses}>
      <h2>{texts.uses}</h2>
      {uses.isError && <Problem error={uses.error} onRetry={() => uses.refetch()} />}
      {uses.data?.length === 0 && <p className={styles.hint}>{texts.noUses}</p>}
      {uses.data && uses.data.length > 0 && (
        <>
          <Days uses={uses.data} />
          <p className={styles.hint}>
            {texts.usesHint} {texts.useHint}
          </p>
        </>
      )}
    </section>
  )
}
