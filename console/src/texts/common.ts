/** Texts that several features show. Each feature has a file beside this one. */
export const texts = {
  unreachable: 'The service cannot be reached. Check that it runs, then try again.',
  unexpectedResponse: (status: number) => `The service returned an unexpected response (status ${status}).`,
  loading: 'Loading …',
  retry: 'Try again',
  broken: 'This page cannot be shown.',
  notLoaded: 'The page could not be loaded. Check that the service runs, then reload the console.',
  reload: 'Reload the console',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  delete: 'Delete',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'The browser does not allow this page to copy.',
  copyYourself: 'Select the text and copy it yourself.',
  notFound: 'There is no such page.',
  home: 'Go to the overview',
  requestId: (id: string) => `Request ${id}`,
  never: 'never'
}
