import type { Client } from '../helpers.ts'

/** Two artists with 100 albums each. */
export const ALBUMS = `
  CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  INSERT INTO artist VALUES (1, 'Ada'), (2, 'Bo');
  CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist_id INTEGER REFERENCES artist (id),
    year INTEGER CHECK (year > 1900), price REAL);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  INSERT INTO album SELECT i, 'Album ' || i, i % 2 + 1, 1950 + i % 70, i / 10.0 FROM n;
`

/** Returns the paths of the registered tables in the console, and how to read an album from the service. */
export const findTables = async (admin: Client) => {
  const tables: { id: number; name: string }[] = (await admin.get('/admin/tables')).json().data
  const pathOf = (name: string, query = '') => `tables/${tables.find((table) => table.name === name)?.id}${query}`
  /** Returns an album, or the status of the response. */
  const readAlbum = async (pk: number) => {
    const response = await admin.get(`/admin/${pathOf('album')}/data/${pk}`)
    return response.statusCode === 200 ? response.json().data : response.statusCode
  }
  return { pathOf, readAlbum }
}
