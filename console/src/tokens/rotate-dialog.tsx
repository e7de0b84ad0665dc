import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { texts as common } from '../texts/common.ts'
import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import { type RotatedToken, rotateToken, type Token } from './queries.ts'

interface RotateDialogProps {
  readonly token: Token
  readonly onRotated: (rotated: RotatedToken) => void
  readonly onClose: () => void
}

/** Lets the user choose how long the previous secret stays valid, and replaces it. */
export const RotateDialog = ({ token: { id, name }, onRotated, onClose }: RotateDialogProps) => {
  const [overlap, setOverlap] = useState<string>(texts.overlaps[0].seconds)
  const rotate = useMutation({ mutationFn: () => rotateToken(id, Number(overlap)) })
  return (
    <Dialog title={texts.rotateTitle(name)} hint={texts.rotateHint} onClose={onClose}>
      <Form onSubmit={() => rotate.mutate(undefined, { onSuccess: onRotated })}>
        <SelectField
          label={texts.overlap}
          hint={texts.overlapHint}
          value={overlap}
          onChange={({ target }) => setOverlap(target.value)}
        >
          {texts.overlaps.map(({ seconds, label }) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </SelectField>
        {rotate.isError && <Problem error={rotate.error} />}
        <Actions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="primary" disabled={rotate.isPending}>
            {texts.rotateDo}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
