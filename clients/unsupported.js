import { ENCODED_TABLES } from './odd-tables.js'

const NO_LETTERS = { tables: ['signs', 'scripts'], reason: 'a column needs letters from A to Z, and no others' }
const SIGNS = { tables: ['signs'], reason: 'a column needs a letter' }
const QUOTES = { tables: ['quotes', 'backslash'], reason: 'quotes and backslashes of a column are not escaped' }
const NEAR_NAMES = {
  tables: ['near_names', 'near_cases'],
  reason: '`my col` and `my_col`, or `myCol`, become one field'
}
const OBJECT_MEMBERS = { tables: ['object_members'], reason: 'it stops at a column `hasOwnProperty` or `__proto__`' }

/** The tables of the odd document that a generator does not support, each with the reason. */
export const unsupported = {
  lint: [
    OBJECT_MEMBERS,
    { tables: ['reference'], reason: 'Spectral takes a column `$ref` for a reference' },
    { tables: ENCODED_TABLES, reason: 'Spectral decodes the path, and does not find its operations' }
  ],
  'openapi-typescript': [OBJECT_MEMBERS],
  'typescript-fetch': [NO_LETTERS, NEAR_NAMES],
  python: [NO_LETTERS, NEAR_NAMES],
  'openapi-python-client': [{ tables: ['class_members'], reason: 'a column `to_dict` or `from_dict` hides a method' }],
  go: [
    NO_LETTERS,
    QUOTES,
    NEAR_NAMES,
    { tables: ['marshal', 'this_word'], reason: 'a column `MarshalJSON` hides a method, and `this` a variable' }
  ],
  'oapi-codegen': [
    SIGNS,
    QUOTES,
    NEAR_NAMES,
    { tables: ENCODED_TABLES, reason: 'it takes percent signs of a path for verbs of Sprintf' }
  ],
  java: [SIGNS, QUOTES, NEAR_NAMES, { tables: ['literals'], reason: 'a column `true` or `false` is a syntax error' }],
  rust: [NO_LETTERS, QUOTES, NEAR_NAMES],
  progenitor: [NEAR_NAMES, { tables: ['signs'], reason: 'columns without letters become one field' }]
}
