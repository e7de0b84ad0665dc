import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../app.ts'
import { readConfig } from '../config.ts'

export const temporaryDirectory = (t: Test) => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

interface StartOptions extends Omit<Partial<AppOptions>, 'config'> {
  readonly env?: Record<string, string>
}

/** A fresh service on a real SQLite file, closed and removed when `t` ends. It does not listen. */
export const startApp = async (t: Test, { env = {}, ...options }: StartOptions = {}) => {
  const directory = temporaryDirectory(t)
  const config = readConfig({ DATA_DIR: directory, ADMIN_PASSWORD: 'correct horse', ...env })
  const app = await buildApp({ config, ...options })
  t.teardown(() => app.close())
  return app
}

export type App = Awaited<ReturnType<typeof startApp>>
