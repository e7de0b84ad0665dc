/** Carries a message to the other tabs when one of them has logged in or out. */
export const channel = new BroadcastChannel('rowhouse.session')

export const announceSession = () => channel.postMessage(null)
