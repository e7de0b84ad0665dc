import { verifyPassword } from './passwords.ts'

export interface VerifierRequest {
  readonly id: number
  readonly stored: string
  readonly password: string
}

export type VerifierResponse = { readonly id: number } & ({ readonly isMatch: boolean } | { readonly error: string })

const respond = ({ id, stored, password }: VerifierRequest): Promise<VerifierResponse> =>
  verifyPassword(stored, password).then(
    (isMatch) => ({ id, isMatch }),
    (error: Error) => ({ id, error: error.message })
  )

/** The service may have ended. Then this process ends too. */
const ignoreSendError = () => {}

process.on('message', async (request: VerifierRequest) => {
  process.send?.(await respond(request), undefined, undefined, ignoreSendError)
})

// A terminal or a supervisor signals all processes at once. This process is needed until the service has stopped.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
