/** The environment of a service that runs these lines before its own, in its process. */
export const withPreload = (lines: string) => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import data:text/javascript,${encodeURIComponent(lines)}`
})
