import type { components } from '../../api/schema.d.ts'
import { type FieldType, parseValue } from './values.ts'

export type NewField = components['schemas']['AdminTableFieldCreate']
type NewCheck = components['schemas']['TableFieldCheck']
export type OnDelete = NonNullable<components['schemas']['TableReferenceCreate']['onDelete']>

/** A field while it is edited. Numbers and values are the texts that were typed. */
export interface FieldDraft {
  /** Identifies the row while its name and place change. */
  readonly key: string
  readonly name: string
  readonly label: string
  readonly type: FieldType
  readonly isPrimary: boolean
  readonly isAutoIncrement: boolean
  readonly isRequired: boolean
  readonly isUnique: boolean
  readonly isIndexed: boolean
  readonly isHidden: boolean
  readonly isReadonly: boolean
  readonly defaultText: string
  /** The name of the other table. Empty: no reference. */
  readonly targetTable: string
  readonly targetField: string
  readonly onDelete: OnDelete
  readonly minimum: string
  readonly maximum: string
  readonly minLength: string
  readonly maxLength: string
  /** The allowed values, one for each line. */
  readonly allowed: string
}

let lastKey = 0

export const newDraft = (given: Partial<FieldDraft> = {}): FieldDraft => {
  lastKey += 1
  return {
    key: String(lastKey),
    name: '',
    label: '',
    type: 'string',
    isPrimary: false,
    isAutoIncrement: false,
    isRequired: false,
    isUnique: false,
    isIndexed: false,
    isHidden: false,
    isReadonly: false,
    defaultText: '',
    targetTable: '',
    targetField: '',
    onDelete: 'noAction',
    minimum: '',
    maximum: '',
    minLength: '',
    maxLength: '',
    allowed: '',
    ...given
  }
}

export const hasRange = (type: FieldType) => type === 'integer' || type === 'number'
export const hasLength = (type: FieldType) => type === 'string'

export const allowedLines = ({ allowed }: FieldDraft) => allowed.split('\n').filter((line) => line.trim() !== '')

const typedValue = (type: FieldType, text: string) => {
  const parsed = parseValue(type, text)
  return 'value' in parsed ? parsed.value : undefined
}

/** Only the rules that the type can have. */
const checkOf = (draft: FieldDraft): NewCheck | undefined => {
  const { type, minimum, maximum, minLength, maxLength } = draft
  const values =
    hasRange(type) || hasLength(type) ? allowedLines(draft).map((line) => typedValue(type, line.trim())) : []
  const check: NewCheck = {
    ...(hasRange(type) && minimum !== '' && { minimum: Number(minimum) }),
    ...(hasRange(type) && maximum !== '' && { maximum: Number(maximum) }),
    ...(hasLength(type) && minLength !== '' && { minLength: Number(minLength) }),
    ...(hasLength(type) && maxLength !== '' && { maxLength: Number(maxLength) }),
    ...(values.length > 0 && { enum: values })
  }
  return Object.keys(check).length > 0 ? check : undefined
}

const typeOf = (type: FieldType): Pick<NewField, 'jsonType' | 'sqliteType'> =>
  type === 'bytes' ? { jsonType: 'string', sqliteType: 'BLOB' } : { jsonType: type }

/** Returns the field as the service takes it. What is at its default is left out. */
export const toNewField = (draft: FieldDraft): NewField => {
  const { name, label, type, isPrimary, defaultText, targetTable, targetField, onDelete } = draft
  const check = checkOf(draft)
  return {
    name,
    ...typeOf(type),
    ...(label !== '' && { label }),
    ...(isPrimary && { isPrimary }),
    ...(isPrimary && draft.isAutoIncrement && { isAutoIncrement: true }),
    ...(!isPrimary && draft.isRequired && { nullable: false }),
    ...(defaultText !== '' && { defaultValue: typedValue(type, defaultText) }),
    ...(draft.isUnique && { isUnique: true }),
    ...(draft.isIndexed && { isIndexed: true }),
    ...(draft.isHidden && { isHidden: true }),
    ...(draft.isReadonly && { isReadonly: true }),
    ...(targetTable !== '' && { references: { table: targetTable, field: targetField, onDelete } }),
    ...(check && { check })
  }
}
