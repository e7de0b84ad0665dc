import { QueryClient } from '@tanstack/react-query'
import { ServiceError } from './errors.ts'

const MAX_RETRIES = 2

/** Retries only what may pass by itself: no connection, or a service that is overloaded or starting. */
const mayPass = (error: unknown) => error instanceof ServiceError && (error.status === 0 || error.status === 503)

export const queryClient = new QueryClient({
  defaultOptions: {
    // Without a network, a request fails at once. The default is to wait, without a message.
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (count, error) => mayPass(error) && count < MAX_RETRIES,
      staleTime: 5000
    },
    mutations: { networkMode: 'always', retry: false }
  }
})
