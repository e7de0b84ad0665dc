import { existsSync, readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { RecordBodySchema } from '../schemas/record.ts'
import { createVerifier } from '../services/accounts/verifier.ts'
import { CONSTANT_PATH } from './workloads.ts'

/** What the service process is told. */
export type ServiceRequest = { readonly constant: string } | 'usage' | 'stop'

/** CPU time of all its threads so far, in microseconds, and resident memory in bytes. */
export interface Usage {
  /** In the service's own code and that of its libraries. */
  readonly user: number
  /** In the kernel. */
  readonly system: number
  readonly peakMemory: number
}

const STATUS = '/proc/self/status'

/**
 * In KiB. Linux lets `maxRSS` begin at what the process had that started this one, so its `VmHWM` is taken there:
 * https://man7.org/linux/man-pages/man2/getrusage.2.html
 */
const readPeakMemory = () => {
  if (!existsSync(STATUS)) return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8'))?.[1])
}

const readUsage = (): Usage => ({ ...process.cpuUsage(), peakMemory: readPeakMemory() * 1024 })

/** The service as `server.ts` builds it, with one path more: the measure of all others. */
const start = async () => {
  const config = readConfig(process.env)
  const app = await buildApp({
    config,
    logger: { level: config.LOG_LEVEL, stream: process.stderr },
    verifyPassword: createVerifier(),
    onDeath: (cause) => {
      throw cause
    }
  })

  let constant = ''
  await app.register(async (fastify) => {
    fastify.addHook('onRequest', fastify.authenticateToken)
    const answer = async (_request: FastifyRequest, reply: FastifyReply) =>
      reply.type('application/json; charset=utf-8').send(constant)
    fastify.get(CONSTANT_PATH, answer)
    fastify.post(CONSTANT_PATH, { schema: { body: RecordBodySchema } }, answer)
  })

  process.on('message', async (request: ServiceRequest) => {
    if (request === 'usage') return process.send?.(readUsage())
    if (request !== 'stop') {
      constant = request.constant
      return
    }
    await app.close()
    process.disconnect()
  })
  process.send?.(await app.listen({ host: config.HOST, port: config.PORT }))
}

await start()
