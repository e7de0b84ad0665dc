import { verifyPassword } from './passwords.ts'

export interface Question {
  readonly id: number
  readonly stored: string
  readonly password: string
}

export type Verdict = { readonly id: number } & ({ readonly isRight: boolean } | { readonly fault: string })

const judge = ({ id, stored, password }: Question): Promise<Verdict> =>
  verifyPassword(stored, password).then(
    (isRight) => ({ id, isRight }),
    (error: Error) => ({ id, fault: error.message })
  )

/** Whoever asked may have ended meanwhile, and this process is about to. */
const ignoreFailure = () => {}

process.on('message', async (question: Question) => {
  process.send?.(await judge(question), undefined, undefined, ignoreFailure)
})

// A terminal or a supervisor signals every process at once; this one is needed until the service itself has stopped.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
