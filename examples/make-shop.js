// Creates shop.sqlite, a small database to try Rowhouse with: npm run shop
import { existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'

const FILE = 'shop.sqlite'

if (existsSync(FILE)) {
  console.log(`${FILE} exists already.`)
} else {
  new BetterSqlite3(FILE).exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, password_hash TEXT);
    CREATE TABLE products (sku TEXT PRIMARY KEY, title TEXT NOT NULL, price REAL, stock INTEGER DEFAULT 0);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, ordered_on TEXT);
    CREATE TABLE order_lines (order_id INTEGER, sku TEXT REFERENCES products, quantity INTEGER, PRIMARY KEY (order_id, sku));
    CREATE VIEW sales AS SELECT sku, sum(quantity) AS sold FROM order_lines GROUP BY sku;

    INSERT INTO customers VALUES
      (1, 'Ada', 'ada@example.org', 'a secret'), (2, 'Grace', 'grace@example.org', 'another secret');
    INSERT INTO products VALUES
      ('pen', 'Fountain pen', 24.5, 7), ('ink', 'Ink, 100 % black', 8, 40), ('pad,a4', 'Writing pad A4', 4.25, 120);
    INSERT INTO orders VALUES (1, 1, '2026-11-20'), (2, 2, '2026-11-21');
    INSERT INTO order_lines VALUES (1, 'pen', 1), (1, 'ink', 2), (2, 'pad,a4', 10);`)
  console.log(`Created ${FILE}.`)
}
