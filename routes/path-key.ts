import type { RegisteredTable } from '../services/model/table.ts'

/** Returns the last segment of a path as it was sent, without percent-decoding. */
const lastSegment = (url: string) => {
  const [path = ''] = url.split('?', 1)
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Decodes a part, and encodes only its characters `,` and `%` again. */
const toKeyText = (part: string) => decodeURIComponent(part).replace(/[,%]/g, encodeURIComponent)

/**
 * Returns the text of the key in a path. `pk`: the last segment, decoded. In the path of a composite key, a comma that is
 * not percent-encoded separates the parts: `/records/1,a%2Cb` has the parts `1` and `a,b`. Without such a comma, the
 * decoded text has the same form: `/records/1%2Ca%252Cb` has these parts too.
 */
export const pathKey = ({ structure }: RegisteredTable, pk: string, url: string) => {
  if (structure.key.length === 1) return pk
  const segment = lastSegment(url)
  return segment.includes(',') ? segment.split(',').map(toKeyText).join(',') : pk
}
