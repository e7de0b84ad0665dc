import { join } from 'node:path'
import { installModules, run } from './tools.js'

const here = new URL('.', import.meta.url).pathname

/** Checks a document with the recommended rules of Redocly and Spectral. Each exception has its reason in their files. */
export const lint = async (work) => {
  const modules = await installModules()
  for (const name of ['openapi.json', 'openapi-3.0.json']) {
    const file = join(work, name)
    const output = await run(
      'node',
      [join(modules, '@redocly/cli/bin/cli.js'), 'lint', file, '--config', join(here, 'redocly.yaml')],
      {
        env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
      }
    )
    if (/You have \d+ warning/.test(output)) throw new Error(output)
    await run('node', [
      join(modules, '@stoplight/spectral-cli/dist/index.js'),
      ...['lint', file, '--ruleset', join(here, '.spectral.yaml'), '--fail-severity', 'hint']
    ])
  }
}
