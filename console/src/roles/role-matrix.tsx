import { Ban, ListFilter, Minus } from 'lucide-react'
import type { Table } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { texts as tokens } from '../texts/tokens.ts'
import matrix from '../ui/matrix.module.css'
import { ACTIONS } from './grants.ts'
import { cellOf, type MatrixCell, matrixRows } from './matrix.ts'
import type { Grant } from './queries.ts'
import styles from './role-matrix.module.css'

const ICONS = { whole: null, partial: ListFilter, closed: Ban } as const

const Cell = ({ cell }: { readonly cell: MatrixCell | null }) => {
  if (!cell) return <Minus size={14} role="img" aria-label={tokens.notAllowed} />
  const Icon = ICONS[cell.state]
  return (
    <span role="img" className={styles.grant} data-state={cell.state} aria-label={cell.text} title={cell.text}>
      {cell.place}
      {Icon && <Icon size={11} aria-hidden="true" />}
    </span>
  )
}

const Legend = () => (
  <ul className={styles.legend}>
    <li>
      <span className={styles.grant} data-state="whole">
        1
      </span>
      {texts.legend.whole}
    </li>
    <li>
      <span className={styles.grant} data-state="partial">
        1<ListFilter size={11} aria-hidden="true" />
      </span>
      {texts.legend.partial}
    </li>
    <li>
      <span className={styles.grant} data-state="closed">
        1<Ban size={11} aria-hidden="true" />
      </span>
      {texts.legend.closed}
    </li>
  </ul>
)

interface RoleMatrixProps {
  readonly grants: readonly Grant[]
  readonly registered: readonly Table[]
  /** What the service has found at the last save. */
  readonly warnings: readonly string[]
}

/** Tables × actions: the number of the grant that applies. */
export const RoleMatrix = ({ grants, registered, warnings }: RoleMatrixProps) => (
  <section className={styles.overview} aria-label={texts.overview}>
    <h2>{texts.overview}</h2>
    <p className={styles.hint}>{texts.overviewHint}</p>
    {warnings.length > 0 && (
      <ul className={styles.warnings} aria-label={texts.columns.warnings}>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    )}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: What scrolls must be reachable by the keyboard. */}
    <div className={`${matrix.matrix} ${styles.matrix}`} tabIndex={0}>
      <table aria-label={texts.matrix}>
        <thead>
          <tr>
            <th scope="col">{tokens.table}</th>
            {ACTIONS.map((action) => (
              <th key={action} scope="col" title={tokens.actionHints[action]}>
                {tokens.actionNames[action]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrixRows(grants, registered).map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <bdi className={styles.name}>{row.label}</bdi>
                {row.note !== undefined && <span className={styles.note}>{row.note}</span>}
              </th>
              {ACTIONS.map((action) => (
                <td key={action}>
                  <Cell cell={cellOf(grants, row, action)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    <Legend />
  </section>
)
