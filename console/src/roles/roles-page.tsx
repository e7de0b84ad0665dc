import { useQuery } from '@tanstack/react-query'
import { texts } from '../texts/roles.ts'
import { LinkButton } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { rolesQuery } from './queries.ts'
import { RoleList } from './role-list.tsx'

const NewRole = () => (
  <LinkButton href="/roles/new" variant="primary">
    {texts.newRole}
  </LinkButton>
)

const NoRoles = () => (
  <Empty title={texts.emptyTitle}>
    <p>{texts.empty}</p>
    <NewRole />
  </Empty>
)

export const RolesPage = () => {
  const roles = useQuery(rolesQuery)
  const hasRoles = roles.data !== undefined && roles.data.length > 0
  return (
    <Page title={texts.title} sub={roles.data?.length} actions={hasRoles && <NewRole />}>
      {roles.isError && <Problem error={roles.error} onRetry={() => roles.refetch()} />}
      {hasRoles && <RoleList roles={roles.data} />}
      {roles.data?.length === 0 && <NoRoles />}
    </Page>
  )
}
