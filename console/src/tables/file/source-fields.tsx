import { Upload, X } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { DELIMITERS, type Delimiter } from '../../api/delimiter.ts'
import type { FileFormat } from '../../api/upload.ts'
import { texts } from '../../texts/from-file.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import { formatBytes } from '../../ui/size.ts'
import type { Problems } from '../fields/problems.ts'
import styles from './file.module.css'
import { FORMATS, guess } from './source.ts'
import type { FileState } from './use-file.ts'

/** The kinds of files that a dialog offers. */
const ACCEPTED = '.csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,application/json,application/x-ndjson'

const Chosen = ({ source: { file }, change }: FileState) =>
  file && (
    <p className={styles.chosen}>
      <span dir="auto">{file.name}</span>
      <span>{formatBytes(file.size)}</span>
      <IconButton label={texts.removeFile} onClick={() => change({ file: null })}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </p>
  )

const Paste = ({ source, change }: FileState) => (
  <TextAreaField
    label={texts.paste}
    hint={texts.pasteHint}
    isMono
    rows={8}
    spellCheck={false}
    wrap="off"
    value={source.text}
    onChange={({ target: { value } }) => change({ text: value, ...(source.text === '' && guess(value)) })}
  />
)

/** Where a file is dropped, chosen or pasted. */
export const Content = (state: FileState) => {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file) state.choose(file)
  }
  return (
    <section
      className={styles.drop}
      data-over={isOver}
      aria-label={texts.file}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className={styles.choose}>
        <Button onClick={() => input.current?.click()}>
          <Upload size={14} aria-hidden="true" />
          {texts.choose}
        </Button>
        <span className={styles.hint}>{texts.orDrop}</span>
        <input
          ref={input}
          type="file"
          hidden
          aria-label={texts.file}
          accept={ACCEPTED}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file) state.choose(file)
            target.value = ''
          }}
        />
      </div>
      {state.source.file ? <Chosen {...state} /> : <Paste {...state} />}
    </section>
  )
}

const FormatFields = ({ source: { format, delimiter }, change }: FileState) => (
  <>
    <SelectField
      label={texts.format}
      value={format}
      onChange={({ target }) => change({ format: target.value as FileFormat })}
    >
      {FORMATS.map((name) => (
        <option key={name} value={name}>
          {texts.formats[name]}
        </option>
      ))}
    </SelectField>
    {format === 'csv' && (
      <SelectField
        label={texts.delimiter}
        value={delimiter}
        onChange={({ target }) => change({ delimiter: target.value as Delimiter })}
      >
        {DELIMITERS.map((name) => (
          <option key={name} value={name}>
            {texts.delimiters[name]}
          </option>
        ))}
      </SelectField>
    )}
  </>
)

/** The name of the table, and how its file is written. */
export const SourceFields = ({ problems, ...state }: FileState & { readonly problems: Problems }) => (
  <div className={styles.fields}>
    <TextField
      label={texts.name}
      error={problems.get('name')}
      isMono
      autoCapitalize="none"
      spellCheck={false}
      value={state.source.name}
      onChange={({ target }) => state.change({ name: target.value })}
    />
    <TextField
      label={texts.label}
      error={problems.get('label')}
      value={state.source.label}
      onChange={({ target }) => state.change({ label: target.value })}
    />
    <FormatFields {...state} />
  </div>
)
