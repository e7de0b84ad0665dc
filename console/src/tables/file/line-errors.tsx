import type { ServiceError } from '../../api/errors.ts'
import { texts } from '../../texts/from-file.ts'
import list from '../list.module.css'
import styles from './file.module.css'

/** The wrong lines of a file. Nothing of it was stored. */
export const LineErrors = ({ error }: { readonly error: ServiceError }) => (
  <section className={styles.preview} role="alert">
    <h2>{error.message}</h2>
    <div className={list.scroll}>
      <table className={list.list}>
        <thead>
          <tr>
            <th className={list.number}>{texts.line}</th>
            <th>{texts.column}</th>
            <th>{texts.problem}</th>
          </tr>
        </thead>
        <tbody>
          {error.details.map(({ line, column, message, path, code }) => (
            <tr key={`${line}${path}${code}`}>
              <td className={list.number}>{line}</td>
              <td className={list.name}>{column}</td>
              <td className={list.problem}>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    {error.total !== undefined && error.total > error.details.length && (
      <p className={styles.hint}>{texts.moreErrors(error.total - error.details.length)}</p>
    )}
  </section>
)
