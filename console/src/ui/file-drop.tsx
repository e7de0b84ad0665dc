import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { texts } from '../texts/common.ts'
import { classes } from './classes.ts'
import styles from './file-drop.module.css'
import { formatBytes } from './size.ts'

interface FileDropProps {
  readonly file: File | undefined
  /** The text without a file. */
  readonly prompt: string
  /** The ends of the names that the browser offers: ".csv,.json". */
  readonly accept: string
  readonly onFile: (file: File) => void
}

/** An area for a file: a click chooses one, and a file can be dropped on it. */
export const FileDrop = ({ file, prompt, accept, onFile }: FileDropProps) => {
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => {
    const [first] = files ?? []
    if (first) onFile(first)
  }
  return (
    <label
      className={classes(styles.drop, isOver && styles.over)}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <FileUp size={16} aria-hidden="true" />
      <span className={styles.file}>{file ? `${file.name} · ${formatBytes(file.size)}` : prompt}</span>
      {file && <span className={styles.other}>{texts.otherFile}</span>}
      <input
        type="file"
        accept={accept}
        // Without this, the browser does not report that the same file is chosen again.
        onClick={({ currentTarget }) => {
          currentTarget.value = ''
        }}
        onChange={({ target }) => take(target.files)}
      />
    </label>
  )
}
