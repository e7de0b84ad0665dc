import { texts } from '../../texts/structure.ts'
import { TextField } from '../../ui/field.tsx'

interface Names {
  readonly label: string
  readonly clientName: string
}

interface DisplayNamesProps {
  readonly form: Names
  readonly change: (changed: Partial<Names>) => void
  readonly errors: ReadonlyMap<string, string>
}

/** The label of a table or a field, and its name in generated clients. */
export const DisplayNames = ({ form, change, errors }: DisplayNamesProps) => (
  <>
    <TextField
      label={texts.label}
      error={errors.get('label')}
      maxLength={200}
      value={form.label}
      onChange={({ target }) => change({ label: target.value })}
    />
    <TextField
      label={texts.clientName}
      hint={texts.clientNameHint}
      error={errors.get('clientName')}
      isMono
      value={form.clientName}
      onChange={({ target }) => change({ clientName: target.value })}
    />
  </>
)
