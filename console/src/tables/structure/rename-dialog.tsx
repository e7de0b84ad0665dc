import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../../api/errors.ts'
import { queryClient } from '../../api/query-client.ts'
import { includesName } from '../../roles/grants.ts'
import { rolesQuery } from '../../roles/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { FormProblem } from '../../ui/page.tsx'
import { notify } from '../../ui/toast.tsx'
import { nameProblem } from '../fields/problems.ts'
import type { Table } from '../queries.ts'
import { namingTokensQuery, updateTable } from './calls.ts'
import styles from './structure.module.css'

/** The tokens that name the table, and whether they follow. */
const NamingTokens = ({
  table,
  follow,
  onChange
}: {
  readonly table: Table
  readonly follow: boolean
  readonly onChange: (follow: boolean) => void
}) => {
  const { data } = useQuery(namingTokensQuery(table.name))
  if (!data) return null
  if (data.length === 0) return <p className={styles.hint}>{texts.noNamingTokens(table.name)}</p>
  return (
    <>
      <p>{texts.namingTokens(table.name)}</p>
      <ul className={styles.tokens}>
        {data.map(({ id, name }) => (
          <li key={id} dir="auto">
            {name}
          </li>
        ))}
      </ul>
      <Checkbox
        label={texts.updateTokens}
        hint={texts.updateTokensHint}
        checked={follow}
        onChange={({ target }) => onChange(target.checked)}
      />
    </>
  )
}

/** The roles that name the table. They always follow. */
const NamingRoles = ({ table }: { readonly table: Table }) => {
  const roles = useQuery(rolesQuery)
  const naming = (roles.data ?? []).filter(({ grants }) =>
    grants.some(({ tables }) => includesName(tables, table.name))
  )
  return naming.length > 0 && <p>{texts.namingRoles(naming.map(({ name }) => name))}</p>
}

/** Gives a table another name in the database. */
export const RenameDialog = ({ table, onClose }: { readonly table: Table; readonly onClose: () => void }) => {
  const [name, setName] = useState(table.name)
  const [follow, setFollow] = useState(true)
  const renaming = useMutation({
    mutationFn: async () => {
      await updateTable(table, { name, updateTokens: follow })
      await Promise.all(['tokens', 'roles'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))
      notify({ title: texts.renamed(table.name, name) })
    }
  })
  const problem = name === table.name ? undefined : nameProblem(name)
  return (
    <Dialog title={texts.renameTitle(table.name)} hint={texts.renameHint} onClose={onClose}>
      <Form onSubmit={() => problem === undefined && renaming.mutate(undefined, { onSuccess: onClose })}>
        <TextField
          label={texts.newName}
          error={problem ?? fieldErrors(renaming.error).get('name')}
          isMono
          spellCheck={false}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <NamingTokens table={table} follow={follow} onChange={setFollow} />
        <NamingRoles table={table} />
        <FormProblem error={renaming.error} fields={['name']} />
        <Actions>
          <Button variant="quiet" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={name === table.name || renaming.isPending}>
            {texts.renameTo(name)}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
