import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense } from 'react'
import { Router } from 'wouter'
import { queryClient } from './api/query-client.ts'
import { Pages } from './pages.tsx'
import { AccountGate } from './session/account-gate.tsx'
import { Layout } from './shell/layout.tsx'
import { useEncodedSearch } from './shell/search-hook.ts'
import { aroundNav } from './ui/leave-guard.ts'
import { Toasts } from './ui/toast.tsx'

/** The path of the console, which a proxy may prefix: `/console`. */
const BASE = new URL(document.baseURI).pathname.replace(/\/$/, '')

/** The policy of the page refuses style elements: the component library must not add any. */
export const App = () => (
  <CSPProvider disableStyleElements>
    <QueryClientProvider client={queryClient}>
      <Router base={BASE} searchHook={useEncodedSearch} aroundNav={aroundNav}>
        <AccountGate>
          <Layout>
            <Suspense>
              <Pages />
            </Suspense>
          </Layout>
        </AccountGate>
      </Router>
      <Toasts />
    </QueryClientProvider>
  </CSPProvider>
)
