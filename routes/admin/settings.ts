import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import { READ_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { SettingChangesSchema, SettingsEnvelope } from '../../schemas/settings.ts'

const tags = ['service']

const settingRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { storedSettings } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminGetSettings',
        tags,
        summary: 'Read the settings that can change',
        description:
          'Returns the settings that can change while the service runs, where each value comes from, and the variable of each. Other settings need a restart.',
        response: { 200: SettingsEnvelope }
      },
      config: { credential: 'administrator', scope: 'settings', errors: READ_ERRORS }
    },
    async ({ caller }) => ok(storedSettings.list(caller))
  )

  fastify.put(
    '',
    {
      schema: {
        operationId: 'adminUpdateSettings',
        tags,
        summary: 'Change settings',
        description:
          'Stores values, which apply at once and after a restart. A variable overrides a stored value, and cannot be changed here. null removes a stored value. All changes are stored, or none.',
        body: SettingChangesSchema,
        response: { 200: SettingsEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'settings',
        errors: [...WRITE_ERRORS, 'SETTING_FIXED', 'NOT_ON_CLUSTER']
      }
    },
    async ({ caller, body }) => ok(await storedSettings.update(caller, body))
  )
}

export default settingRoutes
