import root, { type Test } from 'tap'

// A shard is a process that runs many test files. Each file is one subtest, so that its name is in the output.

const HOOKS = ['test', 'teardown', 'before', 'beforeEach', 'intercept']
const ASSERTIONS = ['equal', 'fail', 'match', 'not', 'notOk', 'ok', 'pass', 'rejects', 'same', 'strictSame', 'throws']

/** What test files call on the `t` that they import. tap itself calls others on it, such as `threw`. */
const METHODS = [...HOOKS, ...ASSERTIONS]

type Method = (...args: unknown[]) => unknown
type Methods = Record<string, Method>

/** The least time limit of a file. Otherwise it is ten times the recorded time, because the machine may be under load. */
const MIN_LIMIT_SECONDS = 600

/** Makes the calls of a file on `t` from 'tap' calls on its own subtest. Its hooks and teardowns end with the file. */
const redirect = (from: Methods, to: () => Methods) => {
  for (const method of METHODS) from[method] = (...args) => to()[method]?.(...args)
}

/**
 * Runs test files one after the other.
 *
 * @param files the path of each file, relative to this module, and its recorded seconds
 */
export const runFiles = async (files: Readonly<Record<string, number>>) => {
  const test = root.test.bind(root)
  let current: Test | undefined
  redirect(root as unknown as Methods, () => current as unknown as Methods)
  for (const [file, seconds] of Object.entries(files)) {
    const timeout = Math.max(MIN_LIMIT_SECONDS, 10 * seconds) * 1000
    await test(file, { timeout }, async (t) => {
      current = t
      await import(new URL(file, import.meta.url).href)
    })
  }
}
