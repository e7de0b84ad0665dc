import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { type Table, tablesQuery } from '../tables/queries.ts'
import { texts as common } from '../texts/common.ts'
import { texts } from '../texts/roles.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Empty, Page, Problem } from '../ui/page.tsx'
import { notify } from '../ui/toast.tsx'
import { DeleteRoleDialog } from './delete-role-dialog.tsx'
import { newGrant, toDraft, toGrants } from './draft.ts'
import { changeRole, createRole, type Role, rolesQuery } from './queries.ts'
import { RoleForm, type RoleInput } from './role-form.tsx'

interface FormPageProps {
  /** The fields of a rule are those of the tables, as they were when the page was opened. */
  readonly registered: readonly Table[]
}

/** Returns what shows that a role is saved, and leaves its page. */
const useSaved = () => {
  const [, navigate] = useLocation()
  return ({ name, warnings }: Pick<Role, 'name' | 'warnings'>) => {
    notify({ title: texts.saved(name), description: warnings.join(' ') })
    navigate('/roles')
  }
}

const NewRolePage = ({ registered }: FormPageProps) => {
  const [start] = useState(() => ({ name: '', grants: [newGrant()] }))
  return (
    <Page title={texts.newRole}>
      <RoleForm
        start={start}
        registered={registered}
        warnings={[]}
        submitLabel={texts.create}
        save={createRole}
        onSaved={useSaved()}
      >
        <LinkButton href="/roles">{common.cancel}</LinkButton>
      </RoleForm>
    </Page>
  )
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Returns only what was edited: another administrator may have changed the rest since. */
const changesOf = (after: RoleInput, before: RoleInput) => ({
  ...(after.name !== before.name && { name: after.name }),
  ...(!isSame(after.grants, before.grants) && { grants: after.grants })
})

const EditRolePage = ({ role, registered }: FormPageProps & { readonly role: Role }) => {
  const [, navigate] = useLocation()
  const [start] = useState(() => toDraft(role, registered))
  const [before] = useState(() => ({ name: role.name, grants: toGrants(start, registered) }))
  const [isDeleting, setDeleting] = useState(false)
  const save = async (input: RoleInput) => {
    const changes = changesOf(input, before)
    return Object.keys(changes).length === 0 ? role : changeRole(role.id, changes)
  }
  return (
    <Page
      title={role.name}
      sub={texts.tokens(role.tokens)}
      actions={
        <>
          <LinkButton href={`/tokens/new?role=${encodeURIComponent(role.name)}`}>{texts.newToken}</LinkButton>
          <Button onClick={() => setDeleting(true)}>{texts.delete} …</Button>
        </>
      }
    >
      <RoleForm
        start={start}
        registered={registered}
        warnings={role.warnings}
        submitLabel={common.save}
        save={save}
        onSaved={useSaved()}
      >
        <LinkButton href="/roles">{common.cancel}</LinkButton>
      </RoleForm>
      {isDeleting && (
        <DeleteRoleDialog role={role} leave={() => navigate('/roles')} onClose={() => setDeleting(false)} />
      )}
    </Page>
  )
}

const StoredRolePage = ({ id, registered }: FormPageProps & { readonly id: number }) => {
  const roles = useQuery(rolesQuery)
  const role = roles.data?.find((other) => other.id === id)
  if (role) return <EditRolePage key={id} role={role} registered={registered} />
  return (
    <Page title={texts.role}>
      {roles.isError && <Problem error={roles.error} onRetry={() => roles.refetch()} />}
      {roles.isSuccess && (
        <Empty title={texts.notFound}>
          <LinkButton href="/roles">{texts.toRoles}</LinkButton>
        </Empty>
      )}
    </Page>
  )
}

/** A new role, or the properties of one. The command palette opens this page anew, also over itself. */
export const RolePage = () => {
  const { id } = useParams<{ id: string }>()
  const visit = useHistoryState<number | null>()
  const tables = useQuery(tablesQuery)
  if (!tables.data) {
    return (
      <Page title={texts.role}>
        {tables.isError && <Problem error={tables.error} onRetry={() => tables.refetch()} />}
      </Page>
    )
  }
  return id === 'new' ? (
    <NewRolePage key={visit} registered={tables.data} />
  ) : (
    <StoredRolePage id={Number(id)} registered={tables.data} />
  )
}
