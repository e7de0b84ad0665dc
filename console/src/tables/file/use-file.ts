import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { texts } from '../../texts/from-file.ts'
import { useFormGuard } from '../../ui/leave-dialog.tsx'
import { notifyError } from '../../ui/toast.tsx'
import { tableChanged } from '../queries.ts'
import { EMPTY, type FromFile, type Source, sendFile, sourceOfFile } from './source.ts'

/** The entered file, its preview, and the creation of the table. */
export const useFile = () => {
  const [source, setSource] = useState(EMPTY)
  const [part, setPart] = useState(0)
  const [, navigate] = useLocation()
  const preview = useMutation({
    mutationFn: (sent: Source) => sendFile(sent, { dryRun: true, onProgress: setPart }),
    onMutate: () => setPart(0)
  })
  const creation = useMutation({
    mutationFn: () => sendFile(source, { dryRun: false, onProgress: setPart }),
    onMutate: () => setPart(0),
    onSuccess: async ({ table }) => {
      if (table) await tableChanged(table)
    }
  })
  const guard = useFormGuard(source !== EMPTY)
  const open = ({ table }: FromFile) => {
    if (!table) return
    guard.release()
    navigate(`/tables/${table.id}`)
  }
  // The table is opened only if the user has not left the page.
  const create = () => creation.mutate(undefined, { onSuccess: open })
  /** A preview belongs to what it was made from. */
  const change = (changed: Partial<Source>) => {
    preview.reset()
    if (creation.isError) creation.reset()
    setSource({ ...source, ...changed })
  }
  const choose = async (file: File) => {
    try {
      const chosen = await sourceOfFile(file, source)
      change(chosen)
      if (chosen.name !== '') preview.mutate(chosen)
    } catch (error) {
      notifyError(texts.unreadable(file.name), error)
    }
  }
  return { source, part, preview, creation, create, guard, change, choose }
}

export type FileState = ReturnType<typeof useFile>
