import module from 'node:module'

// package.json makes each test process load this module before tap (`test-env`).

/**
 * Prevents the module hooks that tap runs in a thread, on Node before 24.13. They list the modules of each test, for
 * `tap run --changed` only, and took 0.7 s of CPU in each test that loads the service. The hooks that run in the same thread are
 * cheap, and begin the measurement of coverage.
 */
Object.assign(module, { register: () => {} })

const { EXPECTED_NODE } = process.env
if (EXPECTED_NODE !== undefined && !`${process.version}.`.startsWith(`v${EXPECTED_NODE}.`))
  throw new Error(`These tests are for Node ${EXPECTED_NODE}, but ${process.version} runs.`)

/** Child processes load this module too, in any working directory. */
process.env.NODE_OPTIONS = `--import ${import.meta.url}`
