import t from 'tap'
import type { Permissions } from '../../../schemas/token.ts'
import { authorize } from '../../../services/tokens/authorize.ts'
import { createScope } from '../../../services/tokens/permissions.ts'

const tokenWith = (permissions: Permissions) => ({
  scope: createScope(permissions),
  permissions,
  role: null
})

const reader = tokenWith({ tables: ['cats'], actions: ['read'] })
const writer = tokenWith({ tables: ['cats'], actions: ['write'] })

const refusal = (message: string, hint = /^An administrator.*PUT \/admin\/tokens\/:id/) => ({
  code: 'ACTION_NOT_ALLOWED',
  message,
  hint
})

t.test('a granted action on a table in scope is allowed', async (t) => {
  t.doesNotThrow(() => authorize(reader, 'read', 'CATS'))
  t.doesNotThrow(() => authorize(writer, 'update', 'cats'))
})

t.test('a missing action is refused, and the message names it', async (t) => {
  t.throws(
    () => authorize(reader, 'update', 'cats'),
    refusal("The token needs the action 'update' (or 'write') on the table 'cats'.")
  )
  t.throws(() => authorize(writer, 'read', 'cats'), refusal("The token needs the action 'read' on the table 'cats'."))
})

t.test('a table out of scope is refused, and the message names it', async (t) => {
  t.throws(() => authorize(reader, 'read', 'dogs'), refusal("The token's tables do not include the table 'dogs'."))
})

t.test('a misspelled name gets the similar name of the permissions, and no other', async (t) => {
  const message = "The token's tables do not include the table 'cat'."
  t.throws(() => authorize(reader, 'read', 'cat'), refusal(message, /^Did you mean 'cats'\? An administrator/))
  t.throws(() => authorize(reader, 'read', 'birds'), refusal("The token's tables do not include the table 'birds'."))
  t.throws(
    () => authorize(reader, 'delete', 'cat'),
    refusal("The token needs the action 'delete' (or 'write') on the table 'cat'.")
  )
})

t.test('a token without the action gets the same message for every table', async (t) => {
  t.throws(
    () => authorize(reader, 'delete', 'dogs'),
    refusal("The token needs the action 'delete' (or 'write') on the table 'dogs'.")
  )
})

t.test('a long table name is cut in the message', async (t) => {
  t.throws(() => authorize(reader, 'read', 'x'.repeat(8000)), { message: /'x{200}…'\.$/ })
})

t.test('before the table is known, only the action is checked', async (t) => {
  t.doesNotThrow(() => authorize(writer, 'schema', undefined))
  t.throws(
    () => authorize(reader, 'schema', undefined),
    refusal("The token needs the action 'schema' (or 'write') on the table to create.")
  )
})
