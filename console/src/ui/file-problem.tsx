import { isAtLines } from '../api/errors.ts'
import { texts } from '../texts/common.ts'
import styles from './file-problem.module.css'
import { Problem } from './page.tsx'

/** The errors of a file by line, or by record, or the failure of the whole request. Nothing of the file was stored. */
export const FileProblem = ({ error }: { readonly error: unknown }) => {
  if (!isAtLines(error)) return <Problem error={error} />
  const { message, details, total = details.length } = error
  return (
    <section className={styles.errors} role="alert">
      <p className={styles.message}>{message}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls. */}
      <div className={styles.scroll} tabIndex={0}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col" className={styles.line}>
                {details.some(({ line }) => line !== undefined) ? texts.line : texts.record}
              </th>
              <th scope="col">{texts.column}</th>
              <th scope="col">{texts.reason}</th>
            </tr>
          </thead>
          <tbody>
            {details.map(({ line, record, column, message, path, code }) => (
              <tr key={`${line ?? record} ${path} ${code}`}>
                <td className={styles.line}>{line ?? record}</td>
                <td className={styles.column}>{column}</td>
                <td>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > details.length && <p className={styles.hint}>{texts.moreErrors(total - details.length)}</p>}
    </section>
  )
}
