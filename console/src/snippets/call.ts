/** A request of a program with a token. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query below the service, such as `/data/Album?size=5`. */
  readonly path: string
  readonly body?: Body
  /** true: the response is a file, not JSON. */
  readonly isFile?: boolean
}

type Body =
  | { readonly type: 'json'; readonly value: unknown }
  /** A file, of which `text` is an example. */
  | { readonly type: 'csv'; readonly text: string }

export const CONTENT_TYPES = { json: 'application/json', csv: 'text/csv' }

export const bodyText = (body: Body) => (body.type === 'json' ? JSON.stringify(body.value, null, 2) : body.text)
