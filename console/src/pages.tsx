import { type ComponentType, lazy } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { OverviewPage } from './overview/overview-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { texts } from './texts/common.ts'
import { ErrorBoundary } from './ui/error-boundary.tsx'

const failLoading = () => {
  throw new Error(texts.notLoaded)
}

const named = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazy(async () => ({ default: (await load().catch(failLoading))[name] }))

/** Each page is loaded when it opens first. */
const NewTablePage = named(() => import('./tables/new-table-page.tsx'), 'NewTablePage')
const ImportTablesPage = named(() => import('./tables/import-tables-page.tsx'), 'ImportTablesPage')
const FromFilePage = named(() => import('./tables/from-file-page.tsx'), 'FromFilePage')
const StructurePage = named(() => import('./tables/structure-page.tsx'), 'StructurePage')
const RecordsPage = named(() => import('./records/records-page.tsx'), 'RecordsPage')
const ApiPage = named(() => import('./api-page/api-page.tsx'), 'ApiPage')
const TokensPage = named(() => import('./tokens/tokens-page.tsx'), 'TokensPage')
const TokenPage = named(() => import('./tokens/token-page.tsx'), 'TokenPage')
const ViewPage = named(() => import('./tokens/view/view-page.tsx'), 'ViewPage')
const RolesPage = named(() => import('./roles/roles-page.tsx'), 'RolesPage')
const RolePage = named(() => import('./roles/role-page.tsx'), 'RolePage')
const AdminKeysPage = named(() => import('./admin-keys/admin-keys-page.tsx'), 'AdminKeysPage')
const NewAdminKeyPage = named(() => import('./admin-keys/new-admin-key-page.tsx'), 'NewAdminKeyPage')
const AdminsPage = named(() => import('./admins/admins-page.tsx'), 'AdminsPage')
const BackupsPage = named(() => import('./backups/backups-page.tsx'), 'BackupsPage')
const AuditPage = named(() => import('./audit/audit-page.tsx'), 'AuditPage')
const AccountPage = named(() => import('./admins/account-page.tsx'), 'AccountPage')

/** The page of each path. Another path shows another page after a failure. */
export const Pages = () => {
  const [path] = useLocation()
  return (
    <ErrorBoundary key={path}>
      <PageOfPath />
    </ErrorBoundary>
  )
}

const PageOfPath = () => (
  <Switch>
    <Route path="/" component={OverviewPage} />
    <Route path="/tables">
      <Redirect to="/" />
    </Route>
    <Route path="/tables/new" component={NewTablePage} />
    <Route path="/tables/import" component={ImportTablesPage} />
    <Route path="/tables/from-file" component={FromFilePage} />
    <Route path="/tables/:id" component={RecordsPage} />
    <Route path="/tables/:id/structure" component={StructurePage} />
    <Route path="/tables/:id/api" component={ApiPage} />
    <Route path="/tokens" component={TokensPage} />
    <Route path="/tokens/:id" component={TokenPage} />
    <Route path="/tokens/:id/view" component={ViewPage} />
    <Route path="/roles" component={RolesPage} />
    <Route path="/roles/:id" component={RolePage} />
    <Route path="/keys" component={AdminKeysPage} />
    <Route path="/keys/new" component={NewAdminKeyPage} />
    <Route path="/admins" component={AdminsPage} />
    <Route path="/backups" component={BackupsPage} />
    <Route path="/audit" component={AuditPage} />
    <Route path="/account" component={AccountPage} />
    <Route component={NotFoundPage} />
  </Switch>
)
