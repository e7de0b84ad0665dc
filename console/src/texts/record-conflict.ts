export const texts = {
  title: (name: string) => `Somebody else has changed ${name}`,
  hint: 'Choose the version to keep.',
  field: 'Field',
  mine: 'Mine',
  theirs: 'Theirs',
  keepMine: 'Keep mine',
  takeTheirs: 'Take theirs'
}
