/** Joins the names of CSS classes that apply. */
export const classes = (...names: readonly (string | false | undefined)[]) => names.filter(Boolean).join(' ')
