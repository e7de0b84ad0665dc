export const texts = {
  table: 'Table',
  viewsOfTable: 'Views of the table',
  views: { records: 'Records', structure: 'Structure', api: 'API' }
}
