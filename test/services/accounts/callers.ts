import type { Session } from '../../../services/accounts/sessions.ts'
import { type AdminCaller, type Caller, serviceCaller } from '../../../services/model/caller.ts'

/** A client that has not logged in. */
export const anonymousCaller = (address: string): Caller => ({ ...serviceCaller, kind: 'anonymous', address })

/** The administrator of a session. */
export const callerOf = ({ id, admin }: Session, address: string): AdminCaller => ({
  ...serviceCaller,
  kind: 'admin',
  id: admin.id,
  name: admin.name,
  sessionId: id,
  address
})
