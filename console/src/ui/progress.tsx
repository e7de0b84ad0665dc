import styles from './progress.module.css'

interface ProgressProps {
  /** The part that is done: 0 to 1. From 1 on, or without a part, the bar only shows that something goes on. */
  readonly part?: number | undefined
  /** The name of the task. */
  readonly children: string
}

/** A bar for work that takes long, and a sentence about it. */
export const Progress = ({ part, children }: ProgressProps) => (
  <div className={styles.progress} role="status">
    <progress value={part !== undefined && part < 1 ? part : undefined} aria-label={children} />
    {children}
  </div>
)
