import fp from 'fastify-plugin'
import { logLevelOf } from '../../config.ts'

/** Sets the level of the log after each change of the setting. Loggers of later requests inherit it. */
export default fp(
  async (fastify) => {
    const { config, settings, log } = fastify
    settings.onChange('logLevel', (LOG_LEVEL) => {
      log.level = logLevelOf({ ACCESS_LOG: config.ACCESS_LOG, LOG_LEVEL })
    })
  },
  { name: 'log-level' }
)
