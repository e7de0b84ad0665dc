import { ServiceError } from '../../api/errors.ts'
import { texts } from '../../texts/transfer.ts'
import { Problem } from '../../ui/page.tsx'
import styles from './transfer.module.css'

/** The errors of a file by line, or the failure of the whole request. */
export const ImportErrors = ({ error }: { readonly error: unknown }) => {
  const details = error instanceof ServiceError ? error.details.filter(({ line }) => line !== undefined) : []
  if (!(error instanceof ServiceError) || details.length === 0) return <Problem error={error} />
  return (
    <div role="alert" className={styles.errors}>
      <p className={styles.wrong}>{texts.errors(error.total ?? details.length, details.length)}</p>
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{texts.line}</th>
              <th scope="col">{texts.field}</th>
              <th scope="col">{texts.reason}</th>
            </tr>
          </thead>
          <tbody>
            {details.map(({ line, column, message }) => (
              <tr key={`${line} ${column} ${message}`}>
                <td className={styles.number}>{line}</td>
                <td>{column}</td>
                <td className={styles.message}>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
