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
import { MAX_SHOWN, type Reply, sendWithToken } from './send.ts'

const MAX_ROWS = 14

const shownText = ({ text, isCut }: Reply) => (isCut ? `${text}\n${texts.cut(MAX_SHOWN)}` : text)

/** Whether an address leads to the data, also after its parts `..` are resolved. */
const isOfData = (path: string) =>
  path.startsWith('/data/') && new URL(path, window.location.origin).pathname.startsWith('/data/')

/** Whether the key of a record is still to be entered: in the address, or in the body. */
const lacksKey = (path: string, body: string) => /\/records\/(?:[?#]|$)/.test(path) || /"pk":\s*""/.test(body)

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
  const start = call.start ?? call
  const [path, setPath] = useState(start.path)
  const [text, setText] = useState(start.body ? bodyText(start.body) : '')
  const isRight = isOfData(path)
  const needsKey = isWrite === true && lacksKey(path, text)
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
        error={isRight ? undefined : texts.wrongAddress}
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
          disabled={token === '' || !isRight || needsKey || sending.isPending}
        >
          {isWrite ? texts.sendWrite(method, table) : texts.send}
        </Button>
        {token === '' && <span>{texts.needsToken}</span>}
        {needsKey && <span>{method === 'POST' ? texts.needsPk : texts.needsKey}</span>}
      </div>
      {sending.isError && <Problem error={sending.error} />}
      {sending.data && <Response reply={sending.data} />}
    </Form>
  )
}
