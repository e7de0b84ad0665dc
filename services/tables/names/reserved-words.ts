const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Keywords of TypeScript, Go, Java, Python, Rust, C# and PHP, in lower case: generators change the case of names. */
const KEYWORDS = words(`
  abstract and any arguments array as assert async await base become bool boolean box break by byte callable
  case catch chan char checked class clone const constructor continue crate debugger decimal declare def default
  defer del delegate delete die do double dyn echo elif else elseif empty enddeclare endfor endforeach endif
  endswitch endwhile enum eval event except exit explicit export extends extern fallthrough false file final finally
  fixed float fn for foreach from func function get global go goto if impl implements implicit import in include
  init instanceof insteadof int interface internal into is isset lambda let list lock long loop macro map match mod
  module move mut namespace native never new nil none nonlocal not null object operator or out override package
  params partial pass pub public private print protected raise range readonly record ref register require return
  sbyte sealed select self set short signed sizeof stackalloc static strictfp string struct super switch
  synchronized this throw throws trait transient true try type typeof uint ulong undefined union unknown unchecked
  unsafe unset unsigned unsized use ushort using var virtual void volatile when where while with xor yield`)

/** Types that those languages, or generated clients, use without an import, and members of every object. */
const TYPES = words(`
  api apiclient apierror apiresponse base64 bigint blob body buffer builder bytes callback client configuration
  console context cookie date datetime decimal128 deserialize dict dictionary error event exception file float32
  float64 formdata future guid handler hashmap header headers http httpclient httprequest httpresponse infinity int32
  int64 integer iterable iterator json list math nan node number object objects offsetdatetime option optional
  ordereddict page pages parameters path promise proxy query queryparams reader records reflect regexp request
  response result schema schemas serialize some stream symbol table tables task thread time timespan token tokens
  tostring tuple unit uri url urlsearchparams uuid value vec writer`)

/**
 * The schemas of our own OpenAPI document, and general words that it may need later. A test compares the list with openapi.json.
 * A new shared schema needs a name that no table is likely to have: names of tables are given once.
 */
export const SHARED_SCHEMAS: readonly string[] = words(`
  Admin AdminAccount AdminAccountCreate AdminAccountEnvelope AdminAccountListEnvelope AdminAccountUpdate
  AdminAuditPage AdminAuditPageEnvelope AdminAuditRow AdminBackup AdminBackupEnvelope AdminBackupList AdminBackupListEnvelope
  AdminBackupRestored AdminBackupRestoredEnvelope AdminIntegerSetting AdminLoggedImport AdminLoggedImportsEnvelope
  AdminRunningBackup AdminSession AdminSessionListEnvelope AdminSettings AdminSettingsEnvelope AdminSettingsUpdate AdminTextSetting
  AdminEnvelope AdminTableCreate AdminTableFieldAddition AdminTableFieldCreate AdminTableFieldUpdate
  AdminTableFromFile AdminTableFromFileEnvelope ChangedToken ChangedTokenEnvelope Credentials Done DoneEnvelope Error
  ErrorCode ErrorDetail ErrorInfo ErrorResponse Field Health HealthEnvelope ImportableTable ImportableTableField ImportableTableListEnvelope
  ImportedTable ImportedTableEnvelope Increment IssuedToken IssuedTokenEnvelope JsonType Ok OpenapiDocument Page
  PasswordChange Permissions Record RotatedToken RotatedTokenEnvelope ServiceRequestCounts ServiceSlowScan ServiceStatus ServiceStatusEnvelope
  SessionInfo SessionInfoEnvelope Table TableBatch TableBatchEnvelope TableBatchResults TableCreate TableEnvelope
  TableField TableFieldAddition TableFieldCheck TableFieldCreate TableFieldUpdate TableForeignKey TableImport
  TableIndex TableIndexCreate TableIndexEnvelope TableIndexListEnvelope TableKind TableListEnvelope
  TableNamingToken TableOperation TableOperationResult TableRecord TableRecordAddition TableRecordAggregate
  TableRecordAggregateFunction TableRecordAggregatePeriod TableRecordAggregateRow TableRecordAggregateRows
  TableRecordAggregateRowsEnvelope TableRecordAggregateUnit TableRecordChange TableRecordChangeEnvelope
  TableRecordCondition TableRecordEnvelope TableRecordFilter TableRecordImportResult
  TableRecordImportResultEnvelope TableRecordIncrement TableRecordInput TableRecordInputList TableRecordPage
  TableRecordPageEnvelope TableRecordQuery TableRecordQueryPage TableRecordQueryPageEnvelope TableRecordReferrer
  TableRecordReferrersEnvelope TableReference
  TableReferenceCreate TableSearchIndex TableUpdate Token TokenAction TokenClosedTable TokenCreate TokenEnvelope TokenExplanation TokenExplanationEnvelope
  TokenExplanationGrant TokenExplanationPreset TokenExplanationRecord TokenExplanationInput TokenIdentity TokenIdentityEnvelope
  TokenListEnvelope TokenPermissions TokenRateLimit TokenRateLimitInput TokenRole TokenRoleCondition TokenRoleCreate TokenRoleEnvelope TokenRoleFields TokenRoleGrant
  TokenRoleListEnvelope TokenRoleRows TokenRoleUpdate TokenRotation TokenUpdate TokenUse TokenUseListEnvelope TokenView TokenViewEnvelope
  AdminKey AdminKeyCreate AdminKeyEnvelope AdminKeyListEnvelope AdminScope IssuedAdminKey IssuedAdminKeyEnvelope`)

/** Generators make a type of each response, too. */
export const SHARED_RESPONSES: readonly string[] = words(`
  BadRequest Conflict Forbidden InsufficientStorage InternalServerError MethodNotAllowed NotFound OtherFailure
  PayloadTooLarge PreconditionFailed RangeNotSatisfiable RequestHeaderFieldsTooLarge RequestTimeout ServiceUnavailable TooManyRequests
  URITooLong Unauthorized UnprocessableEntity UnsupportedMediaType`)

/** Conditions on fields, in typed documents. */
export const SHARED_CONDITIONS: readonly string[] = words(
  'BooleanCondition IntegerCondition MixedCondition NumberCondition TextCondition ValueCondition'
)

/** Some generators make a type of each shared parameter of a typed document. `page` and `return` are above. */
const SHARED_PARAMETERS = words(
  'exportformat ifmatch importatomic importdryrun importmode importon q recordfields recordfilter recordorder size'
)

/** A table `Identity` would have the operation `readIdentity`, which the shared paths of typed documents have. */
const SHARED_OPERATIONS = words('identity ownaccount')

const keywords = new Set(KEYWORDS)
const sharedNames = [...SHARED_SCHEMAS, ...SHARED_RESPONSES, ...SHARED_CONDITIONS].map((name) => name.toLowerCase())
const reserved = new Set([...KEYWORDS, ...TYPES, ...sharedNames, ...SHARED_PARAMETERS, ...SHARED_OPERATIONS])

/** Whether a generated client cannot have a member of this name, in any case. */
export const isReservedForFields = (name: string) => keywords.has(name.toLowerCase())

/** Whether a generated client cannot have a type of this name, in any case. */
export const isReservedForTables = (name: string) => reserved.has(name.toLowerCase())
