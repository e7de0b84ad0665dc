import type { FastifyInstance } from 'fastify'
import { excerpt } from '../../services/model/errors.ts'
import { createJwtVerifier, jwtSettingsOf } from '../../services/tokens/jwt-verifier.ts'
import { createKeyService } from '../../services/tokens/keys.ts'
import { createNamedKeys, type OnInvalidKey } from '../../services/tokens/named-keys.ts'
import { createSignedKeys } from '../../services/tokens/signed-keys.ts'
import type { TokenService } from '../../services/tokens/tokens.ts'
import type { Views } from '../../services/tokens/views.ts'

/** Reasons that are logged until the next start. */
const MAX_REASONS = 100

/** Returns a function that logs each kind of reason once: clients send expired JWTs every day. */
const logInvalidKeys = ({ log }: FastifyInstance): OnInvalidKey => {
  const logged = new Set<string>()
  return (kind, reason) => {
    if (logged.has(kind) || logged.size >= MAX_REASONS) return
    logged.add(kind)
    log.warn(
      { reason: excerpt(reason) },
      'A JWT, or a request without a credential, was refused. Others like it are not logged.'
    )
  }
}

type Rights = Pick<Parameters<typeof createNamedKeys>[0], 'roles' | 'scopeOf'>

/** Creates the service of keys, from the settings of JWTs and of public access. */
export const createKeys = (
  fastify: FastifyInstance,
  { tokens, views, ...rights }: Rights & { readonly tokens: TokenService; readonly views: Views }
) => {
  const { config, clock } = fastify
  const onInvalid = logInvalidKeys(fastify)
  const namedKeys = createNamedKeys({ ...rights, clock, onInvalid })
  const settings = jwtSettingsOf(config, clock)
  const verify = settings && createJwtVerifier({ settings, clock, onInvalid })
  const { PUBLIC_ROLE: roleName, PUBLIC_REQUESTS: requests } = config
  return createKeyService({
    tokens,
    views,
    namedKeys,
    clock,
    signedKey: verify && createSignedKeys({ verify, keys: namedKeys }),
    publicAccess: roleName === undefined ? null : { roleName, requests }
  })
}
