import { texts } from '../texts/common.ts'
import { ServiceError } from './errors.ts'

/**
 * Returns the ETag of a record, for `If-Match`. A proxy that compresses marks it as weak (`W/"…"`), which never matches.
 * @throws ServiceError if there is none: a change could then overwrite another one.
 */
export const etagOf = ({ headers, status }: Response) => {
  const etag = headers.get('etag')
  if (etag === null) throw new ServiceError(status, { message: texts.noEtag })
  return etag.replace(/^W\//, '')
}
