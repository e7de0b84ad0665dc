import { existsSync, readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { buildApp } from '../app.ts'
import { logLevelOf, readConfig } from '../config.ts'
import { RecordBodySchema } from '../schemas/record.ts'
import { createVerifier } from '../services/accounts/verifier.ts'
import { CONSTANT_PATH } from './workloads.ts'

/** A message from the benchmark to the service process. */
export type ServiceMessage = { readonly constant: string } | 'usage' | 'stop'

/** CPU time of all threads since the start, in microseconds, and memory in bytes. */
export interface Usage {
  readonly user: number
  /** CPU time in the kernel. */
  readonly system: number
  /** Peak resident memory. */
  readonly peakMemory: number
}

const STATUS = '/proc/self/status'

/**
 * In KiB. On Linux `maxRSS` starts at the value of the parent process, so `VmHWM` is read there instead:
 * https://man7.org/linux/man-pages/man2/getrusage.2.html
 */
const readPeakMemory = () => {
  if (!existsSync(STATUS)) return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8'))?.[1])
}

const readUsage = (): Usage => ({ ...process.cpuUsage(), peakMemory: readPeakMemory() * 1024 })

/** Starts the service as `server.ts` does, with one more route: the constant that all cases are compared with. */
const start = async () => {
  const config = readConfig(process.env)
  const app = await buildApp({
    config,
    logger: { level: logLevelOf(config), stream: process.stderr },
    verifyPassword: createVerifier(),
    onDeath: (cause) => {
      throw cause
    }
  })

  let constant = ''
  await app.register(async (fastify) => {
    fastify.addHook('onRequest', fastify.authenticateToken)
    const sendConstant = async (_request: FastifyRequest, reply: FastifyReply) =>
      reply.type('application/json; charset=utf-8').send(constant)
    fastify.get(CONSTANT_PATH, sendConstant)
    fastify.post(CONSTANT_PATH, { schema: { body: RecordBodySchema } }, sendConstant)
  })

  process.on('message', async (message: ServiceMessage) => {
    if (message === 'usage') return process.send?.(readUsage())
    if (message !== 'stop') {
      constant = message.constant
      return
    }
    await app.close()
    process.disconnect()
  })
  process.send?.(await app.listen({ host: config.HOST, port: config.PORT }))
}

await start()
