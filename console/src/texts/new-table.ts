export const texts = {
  title: 'New table',
  importInstead: 'Import existing tables',
  fileInstead: 'From a file',
  name: 'Name',
  nameHint: 'In the database and in the paths of the API: letters without accents, digits and _.',
  label: 'Label',
  labelHint: 'A title for people. It can be empty.',
  fields: 'Fields',
  timestamps: 'Keep the times of creation and last change',
  timestampsHint: 'Adds created_at and updated_at, which Rowhouse sets.',
  create: (name: string) => (name === '' ? 'Create the table' : `Create ${name}`),
  preview: 'SQL preview',
  previewHint: 'The SQL that the service will run. It completes the names that end with …'
}
