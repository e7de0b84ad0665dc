import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { bodyText, CONTENT_TYPES } from '../snippets/call.ts'
import { Code } from '../snippets/snippet.tsx'
import { texts } from '../texts/api-page.ts'
import { Button } from '../ui/button.tsx'
import { TextAreaField, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/page.tsx'
import styles from './api-page.module.css'
import type { TableCall } from './calls.ts'
import { type Reply, sendWithToken } from './send.ts'

const MAX_SHOWN = 100_000
const MAX_ROWS = 14

const shownText = ({ text }: Reply) =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n${texts.cut(MAX_SHOWN)}` : text

const Response = ({ reply }: { readonly reply: Reply }) => (
  <div className={styles.reply}>
    <p role="status" className={reply.status < 400 ? styles.success : styles.failure}>
      {texts.status(reply.status, reply.statusText, reply.milliseconds)}
    </p>
    <Code label={texts.response} text={shownText(reply)} />
  </div>
)

interface TryItProps {
  readonly call: TableCall
  readonly table: string
  readonly token: string
}

/** Sends a call, which one may edit first, and shows the response. */
export const TryIt = ({ call, table, token }: TryItProps) => {
  const { method, body, isWrite } = call
  const [path, setPath] = useState(call.path)
  const [text, setText] = useState(body ? bodyText(body) : '')
  const isOfData = path.startsWith('/data/') && !path.includes('..')
  const sending = useMutation({
    mutationFn: () =>
      sendWithToken({ token, method, path, body: body && { contentType: CONTENT_TYPES[body.type], text } })
  })
  return (
    <Form onSubmit={() => sending.mutate()}>
      <TextField
        label={texts.path}
        isMono
        spellCheck={false}
        value={path}
        error={isOfData ? undefined : texts.keepsQuery}
        onChange={(event) => setPath(event.target.value)}
      />
      {body && (
        <TextAreaField
          label={texts.body}
          isMono
          spellCheck={false}
          rows={Math.min(text.split('\n').length + 1, MAX_ROWS)}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <div className={styles.send}>
        <Button
          type="submit"
          variant={isWrite ? 'danger' : 'primary'}
          disabled={token === '' || !isOfData || sending.isPending}
        >
          {isWrite ? texts.sendWrite(method, table) : texts.send}
        </Button>
        {token === '' && <span>{texts.needsToken}</span>}
      </div>
      {sending.isError && <Problem error={sending.error} />}
      {sending.data && <Response reply={sending.data} />}
    </Form>
  )
}
