/** Texts that several features show. Each feature has a file beside this one. */
export const texts = {
  unreachable: 'The service cannot be reached. Check that it runs, then try again.',
  unexpectedResponse: (status: number) => `The service returned an unexpected response (status ${status}).`,
  noEtag:
    'The response has no ETag, so a change could overwrite the change of somebody else. Check that the proxy before the service keeps the header ETag.',
  retry: 'Try again',
  broken: 'This page cannot be shown.',
  notLoaded: 'The page could not be loaded. Check that the service runs, then reload the console.',
  reload: 'Reload the console',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'The browser does not allow this page to copy.',
  copyYourself: 'Select the text and copy it yourself.',
  typeName: (name: string) => `Enter ${name} to confirm`,
  notFound: 'There is no such page.',
  home: 'Go to the overview',
  discardTitle: 'Discard the unsaved changes?',
  discardHint: 'What you have entered is not saved.',
  discard: 'Discard',
  stay: 'Stay here',
  requestId: (id: string) => `Request ${id}`,
  never: 'never'
}
