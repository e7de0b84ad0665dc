import t from 'tap'
import { startServices } from '../../services.ts'

t.test('the children of a record without children are not read', async (t) => {
  const { serve, external } = await startServices(
    t,
    `CREATE TABLE owners (id INTEGER PRIMARY KEY);
    CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id) ON DELETE CASCADE);
    CREATE INDEX pets_by_owner ON pets (owner);
    CREATE TABLE toys (id INTEGER PRIMARY KEY, pet INTEGER REFERENCES pets (id) ON DELETE CASCADE);
    INSERT INTO owners VALUES (1), (2);
    INSERT INTO pets VALUES (1, 2);
    INSERT INTO toys VALUES (1, 1);`
  )
  const owners = await serve('owners')
  for (const pk of ['1', '2']) await owners.remove(pk)
  t.equal(external.prepare('SELECT count(*) FROM toys').pluck().get(), 0)
})
