import { useState } from 'react'
import { SERVICE_URL } from '../../api/client.ts'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/transfer.ts'
import { Button, DownloadLink } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField } from '../../ui/field.tsx'

/** The records that a list shows. Empty texts stand for none. */
export interface ShownRecords {
  readonly q: string
  readonly filter: string
  readonly order: string
}

interface ExportOptions {
  readonly format: 'csv' | 'ndjson'
  readonly isGuarded: boolean
  readonly hasBom: boolean
  readonly isOnlyShown: boolean
}

const exportUrl = (table: Table, query: ShownRecords, options: ExportOptions) => {
  const url = new URL(`${SERVICE_URL}/admin/tables/${table.id}/export`)
  url.searchParams.set('format', options.format)
  if (options.isOnlyShown)
    for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
  if (options.format === 'csv' && options.isGuarded) url.searchParams.set('escape', 'formulas')
  if (options.format === 'csv' && options.hasBom) url.searchParams.set('bom', 'true')
  return url.href
}

interface ExportDialogProps {
  readonly table: Table
  /** What the page shows: its search, filter and order. */
  readonly query: ShownRecords
  readonly onClose: () => void
}

/** Chooses how to export a table, and downloads the file. */
export const ExportDialog = ({ table, query: { q, filter, order }, onClose }: ExportDialogProps) => {
  const [options, setOptions] = useState<ExportOptions>({
    format: 'csv',
    isGuarded: true,
    hasBom: false,
    isOnlyShown: true
  })
  const set = (changes: Partial<ExportOptions>) => setOptions({ ...options, ...changes })
  return (
    <Dialog title={texts.exportTitle(titleOf(table))} onClose={onClose}>
      <SelectField
        label={texts.format}
        hint={texts.formats[options.format]}
        value={options.format}
        onChange={({ target }) => set({ format: target.value === 'csv' ? 'csv' : 'ndjson' })}
      >
        <option value="csv">{texts.csv}</option>
        <option value="ndjson">{texts.ndjson}</option>
      </SelectField>
      {(q !== '' || filter !== '' || order !== '') && (
        <Checkbox
          label={texts.onlyShown}
          hint={texts.onlyShownHint}
          checked={options.isOnlyShown}
          onChange={({ target }) => set({ isOnlyShown: target.checked })}
        />
      )}
      {options.format === 'csv' && (
        <>
          <Checkbox
            label={texts.guard}
            hint={texts.guardHint}
            checked={options.isGuarded}
            onChange={({ target }) => set({ isGuarded: target.checked })}
          />
          <Checkbox
            label={texts.bom}
            hint={texts.bomHint}
            checked={options.hasBom}
            onChange={({ target }) => set({ hasBom: target.checked })}
          />
        </>
      )}
      <Actions>
        <Button variant="quiet" onClick={onClose}>
          {common.cancel}
        </Button>
        <DownloadLink href={exportUrl(table, { q, filter, order }, options)} variant="primary" onClick={onClose}>
          {texts.download}
        </DownloadLink>
      </Actions>
    </Dialog>
  )
}
