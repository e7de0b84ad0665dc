// Stands for the migrations of your project: adds the field `weight` to the products of the shop.
import BetterSqlite3 from 'better-sqlite3'

const db = new BetterSqlite3(process.env.DATABASE)
db.exec('ALTER TABLE products ADD COLUMN weight INTEGER')
db.close()
console.log('Migrated: products has the field weight.')
