import { type Static, Type } from '@sinclair/typebox'
import { documentedAs } from './documented.ts'
import { CreatedAtSchema, Envelope, strict, UpdatedAtSchema } from './envelope.ts'
import { Int64 } from './numbers.ts'
import { operators } from './query.ts'
import { ActionSchema, actions } from './token-action.ts'

/** Steps of `via` from a table to a parent. */
export const MAX_VIA_DEPTH = 3
/** Values of one claim. */
export const MAX_CLAIM_VALUES = 100
const MAX_GRANTS = 200
const MAX_NAMES = 1000

const CLAIM = '`{ "$claim": "name" }` stands for the value of a claim of the key.'

const RuleConditionSchema = Type.Object(
  Object.fromEntries(
    Object.entries(operators).map(([name, { description, example }]) => [
      name,
      Type.Optional(Type.Unknown({ description, examples: [example] }))
    ])
  ),
  {
    title: 'TokenRoleCondition',
    description: `A condition on one field. With several operators, all of them must hold. ${CLAIM}`,
    examples: [{ eq: { $claim: 'customer' } }],
    ...strict
  }
)

const RULE_TITLE = 'TokenRoleRows'
const RULE_EXAMPLE = { where: { customer_id: { eq: { $claim: 'customer' } }, state: { ne: 'archived' } } }

/** A part of a rule is a rule. `$ref` is resolved only in the OpenAPI document. */
const ruleRef = Type.Unsafe<object>({ $ref: `#/components/schemas/${RULE_TITLE}` })
const rules = (description: string) =>
  Type.Optional(Type.Array(ruleRef, { description, examples: [[{ where: { state: { eq: 'open' } } }]] }))

const DocumentedRuleSchema = Type.Object(
  {
    where: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        description: 'A condition for each of these fields. All of them must hold. The key need not see the fields.',
        additionalProperties: RuleConditionSchema,
        examples: [RULE_EXAMPLE.where]
      })
    ),
    via: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        description: `Foreign keys, and the rule that the record to which each refers must match. The name is the field, or the fields of a composite key, joined by commas. At most ${MAX_VIA_DEPTH} steps.`,
        additionalProperties: ruleRef,
        examples: [{ order_id: RULE_EXAMPLE }]
      })
    ),
    all: rules('All of these rules match.'),
    any: rules('At least one of these rules matches.'),
    none: rules('None of these rules matches.')
  },
  {
    title: RULE_TITLE,
    description: 'The records that the grant opens, as a filter. All parts must match.',
    examples: [RULE_EXAMPLE],
    ...strict
  }
)

/** The service checks a rule itself, because its fields and values are those of the tables. */
const RuleSchema = documentedAs(
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
  DocumentedRuleSchema
)

const names = (description: string, example: readonly string[]) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: MAX_NAMES, description, examples: [example] }))

const GrantFieldsSchema = Type.Object(
  {
    read: names('The fields that exist for the key. The primary key is always one of them. Without it: all fields.', [
      'id',
      'state',
      'total'
    ]),
    write: names(
      'The fields that the key can set, also fields that it cannot read. Without it: all fields that it can read.',
      ['state', 'note']
    )
  },
  { title: 'TokenRoleFields', description: 'The fields that a grant opens.', ...strict }
)

const GrantSchema = Type.Object(
  {
    tables: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: MAX_NAMES,
      description:
        'Names of tables, ignoring case. They need not exist yet. `*` stands for all tables without a grant of their own, except SQL views.',
      examples: [['orders']]
    }),
    actions: Type.Array(ActionSchema, {
      minItems: 1,
      maxItems: actions.length,
      description: 'The permitted actions, one by one: `write` is refused.',
      examples: [['read', 'update']]
    }),
    rows: Type.Optional(RuleSchema),
    fields: Type.Optional(GrantFieldsSchema),
    presets: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: 'object',
        additionalProperties: true,
        description: `Values of fields in each record that the key creates. The key cannot send these fields. ${CLAIM}`,
        examples: [{ customer_id: { $claim: 'customer' } }]
      })
    )
  },
  { title: 'TokenRoleGrant', description: 'What a role opens in some tables.', ...strict }
)
export type Grant = Static<typeof GrantSchema>

const nameExample = { examples: ['customer'] }
const NameSchema = Type.String({ minLength: 1, maxLength: 100, description: 'Unique, ignoring case.', ...nameExample })
const GrantsSchema = Type.Array(GrantSchema, {
  maxItems: MAX_GRANTS,
  description: 'For each table and action, one grant applies: one that names the table, or else one with `*`.'
})
const RoleIdSchema = Int64({ minimum: 1, description: 'Id of the role.', examples: [1] })

const RoleSchema = Type.Object(
  {
    id: RoleIdSchema,
    name: Type.String({ description: 'The name.', ...nameExample }),
    grants: GrantsSchema,
    tokens: Int64({ minimum: 0, description: 'Number of tokens with the role.', examples: [3] }),
    warnings: Type.Array(Type.String(), {
      description:
        'Tables that grants name and that are not registered, and those in which a grant opens nothing, with the reason. One sentence each.',
      examples: [["There is no table 'ordres' now."]]
    }),
    created_at: CreatedAtSchema,
    updated_at: UpdatedAtSchema
  },
  { title: 'TokenRole', description: 'What keys with this role can see and change.', ...strict }
)
export const RoleEnvelope = Envelope('TokenRoleEnvelope', RoleSchema)
export const RolesEnvelope = Envelope('TokenRoleListEnvelope', Type.Array(RoleSchema, { description: 'The roles.' }))
export type Role = Static<typeof RoleSchema>

export const NewRoleSchema = Type.Object(
  { name: NameSchema, grants: GrantsSchema },
  { title: 'TokenRoleCreate', description: 'A new role.', ...strict }
)
export type NewRole = Static<typeof NewRoleSchema>

export const RoleChangesSchema = Type.Object(
  { name: Type.Optional(NameSchema), grants: Type.Optional(GrantsSchema) },
  { title: 'TokenRoleUpdate', description: 'The properties to change.', minProperties: 1, ...strict }
)
export type RoleChanges = Static<typeof RoleChangesSchema>

/** A text, an integer, or a list of them. */
export type Claim = string | number | readonly (string | number)[]
export type Claims = Readonly<Record<string, Claim>>

/** The service checks each claim itself: its message says more than that of a schema. */
export const ClaimsSchema = documentedAs(
  Type.Unsafe<Claims>({ type: 'object', maxProperties: 50, additionalProperties: true }),
  Type.Unsafe<Claims>({
    type: 'object',
    description: `The values for \`$claim\` in the rules of the role: texts, integers (larger than 2^53 as texts), or lists of at most ${MAX_CLAIM_VALUES} of them.`,
    additionalProperties: true,
    examples: [{ customer: 17 }]
  })
)
