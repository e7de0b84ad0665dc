import { settingVariables } from '../../config.ts'
import type { SettingName } from '../../schemas/settings.ts'
import { DomainError } from '../model/errors.ts'

/** `names`: of the settings in the request that have a variable. */
export const settingFixed = (names: readonly SettingName[]) => {
  const sentences = names.map((name) => `The variable ${settingVariables[name]} sets '${name}'.`)
  return new DomainError('SETTING_FIXED', `${sentences.join(' ')} Nothing was changed.`, {
    hint: 'Change the variable and restart the service. Or remove it, restart, and send the request again.'
  })
}
