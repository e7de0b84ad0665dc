export const texts = {
  title: (name: string) => `${name} has changed since you opened it`,
  hint: 'Choose the values to keep. Only the fields listed differ.',
  field: 'Field',
  mine: 'Mine',
  theirs: 'Theirs',
  keepMine: 'Keep mine',
  takeTheirs: 'Take theirs'
}
