/** For new tables and fields. Imported ones may have any name. */
export const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

/** For names in generated clients: one identifier in every common language. */
export const CLIENT_NAME_PATTERN = '^[A-Z][A-Za-z0-9]{0,59}$'

export const ADMIN_NAME_PATTERN = '^[^\\p{C}\\p{Zl}\\p{Zp}]{1,100}$'

/** For integers beyond ±(2^53−1), which JSON numbers would round. */
export const INTEGER_PATTERN = '^-?[0-9]{1,19}$'

/** For a number of days, such as `400d`. */
export const DAYS_PATTERN = '^[1-9][0-9]{0,4}d$'

const ENTITY_TAG = '(?:W/)?"[^"\\x00-\\x20\\x7f]*"'

/** Limit of the tags in one `If-Match`: a caller could test a guess of the record with each. */
export const MAX_IF_MATCH_TAGS = 8

/** RFC 9110, 13.1.1. A list may have empty elements (5.6.1). */
export const IF_MATCH_PATTERN = `^(?:\\*|[\\t ,]*${ENTITY_TAG}(?:[\\t ]*,[\\t ,]*${ENTITY_TAG}){0,${MAX_IF_MATCH_TAGS - 1}}[\\t ,]*)$`

/** For METRICS_TOKEN: characters that every HTTP client can send in a header. */
export const METRICS_TOKEN_PATTERN = '^[!-~]{16,256}$'
/** The name of a backup: its time in UTC and its kind. It sorts by time. */
export const BACKUP_NAME_PATTERN =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z-(?:scheduled|manual|upload|before-restore|before-upgrade)\\.db$'

export const LOG_LEVEL_PATTERN = '^(?:fatal|error|warn|info|debug|trace|silent)$'

/** Of BACKUP_KEEP. Empty: all backups are kept. */
export const BACKUP_KEEP_PATTERN = '^(?:[1-9][0-9]{0,3}[dwm](?:,[1-9][0-9]{0,3}[dwm])*)?$'

/** A JSON Pointer (RFC 6901) to a member, without a comma. */
const POINTER = '/(?:[^~,]|~[01])*'
const CLAIM_POINTER = ` *[^\\s=,]{1,100}=${POINTER}`

/** For JWT_CLAIMS. */
export const CLAIM_POINTERS_PATTERN = `^${CLAIM_POINTER}(?:,${CLAIM_POINTER})*$`

/** For JWT_ROLE. */
export const ROLE_OR_POINTER_PATTERN = `^(?:[^/]|${POINTER}$).*$`

/** For JWT_ISSUER. */
export const WITHOUT_SPACES_PATTERN = '^\\S+$'

/** The rule of each pattern, for error messages: "must …". */
export const patternPhrases: Readonly<Record<string, string>> = {
  [NAME_PATTERN]: 'start with a letter, contain only letters, digits and _, and have at most 63 characters',
  [CLIENT_NAME_PATTERN]:
    'start with a capital letter, contain only ASCII letters and digits, and have at most 60 characters',
  [ADMIN_NAME_PATTERN]: 'be 1 to 100 printable characters',
  [METRICS_TOKEN_PATTERN]: 'be 16 to 256 printable ASCII characters without spaces',
  [CLAIM_POINTERS_PATTERN]: 'list names and JSON pointers such as customer=/customer_id, separated by commas',
  [ROLE_OR_POINTER_PATTERN]: 'be the name of a role, or a JSON pointer such as /role',
  [WITHOUT_SPACES_PATTERN]: 'have at least one character, and no spaces',
  [DAYS_PATTERN]: 'be a number of days, such as 400d, of at most 99999d',
  [INTEGER_PATTERN]: 'be a number, or an integer as decimal text',
  [BACKUP_NAME_PATTERN]: 'be the name of a backup, such as 2026-11-26T03-00-00Z-scheduled.db',
  [LOG_LEVEL_PATTERN]: 'be one of fatal, error, warn, info, debug, trace, silent',
  [BACKUP_KEEP_PATTERN]: 'list numbers of days, weeks and months, such as 7d,4w,6m',
  [IF_MATCH_PATTERN]: `be * or a list of up to ${MAX_IF_MATCH_TAGS} tags, each in double quotes: the ETag of a response, as it was received`
}
