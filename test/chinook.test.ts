import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createDatabase, temporaryDirectory } from './fixtures.ts'
import { compareWithSqlite } from './real-database.ts'

/** Chinook, a music shop: 11 tables, foreign keys, a composite key, NVARCHAR, NUMERIC and DATETIME columns. */
const CHINOOK = join(process.cwd(), '../shared/data/chinook.sqlite')
const CHINOOK_ROWS = 15_607

/** A generated database with the same features and more, for machines without the Chinook file. */
const LIKE_CHINOOK = `
  CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
  CREATE TABLE [Album] (
    [AlbumId] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Title] NVARCHAR(160) NOT NULL UNIQUE, [ArtistId] INTEGER NOT NULL,
    [Price] NUMERIC(10,2) NOT NULL DEFAULT 0.99, [Released] DATETIME, [InPrint] BOOLEAN, [Cover] BLOB, [Rating] DOUBLE,
    FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION
  );
  CREATE INDEX [IFK_Album] ON [Album] ([ArtistId]);
  CREATE TABLE [Shelf] ([Room] NVARCHAR(10), [Place] INTEGER, [AlbumId] INTEGER REFERENCES [Album], [Wear] REAL, PRIMARY KEY ([Room], [Place]));
  CREATE TABLE [Lent] ([Who] TEXT, [AlbumId] INTEGER, [Times] INTEGER, PRIMARY KEY ([AlbumId], [Who])) WITHOUT ROWID;
  CREATE TABLE [Played] ([At] DATETIME, [AlbumId] INTEGER REFERENCES [Album] ON DELETE CASCADE);
  CREATE TABLE "select ""odd"" name, ü" ("a b" NVARCHAR(5), "ORDER" INTEGER, "" TEXT, "x""y" REAL, id INTEGER PRIMARY KEY);
  CREATE TABLE [Summed] ([Id] INTEGER PRIMARY KEY, [A] INTEGER, [B] INTEGER, [Sum] INTEGER GENERATED ALWAYS AS ([A] + [B]));
  CREATE TABLE [Strict] ([Code] TEXT PRIMARY KEY, [N] INTEGER, [R] REAL, [B] BLOB) STRICT;
  CREATE TABLE [Empty] ([Id] INTEGER PRIMARY KEY, [Note] TEXT);
  CREATE TABLE [Audit] ([Id] INTEGER PRIMARY KEY, [What] TEXT);
  CREATE VIEW [AlbumView] AS SELECT * FROM [Album] JOIN [Artist] USING ([ArtistId]);
  CREATE TRIGGER [AlbumAudit] AFTER UPDATE ON [Album] BEGIN INSERT INTO [Audit] ([What]) VALUES ('album ' || new.[AlbumId]); END;
  CREATE TRIGGER [ArtistTrim] AFTER INSERT ON [Artist] BEGIN UPDATE [Artist] SET [Name] = trim(new.[Name]) WHERE [ArtistId] = new.[ArtistId]; END;

  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO [Artist] SELECT i, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN 'Ärtist, "' || i || '"' ELSE char(10, 13) || 'a' || i || char(9) END FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
    INSERT INTO [Album] SELECT i * 3, '=Album ' || i, i % 290 + 1, i / 100.0, CASE WHEN i % 2 THEN date('2000-01-01', i || ' days') ELSE i END,
      CASE i % 3 WHEN 2 THEN NULL ELSE i % 3 END, CASE i % 5 WHEN 0 THEN NULL ELSE unhex(printf('%04x', i)) END, i * 0.1 FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO [Shelf] SELECT 'room,' || (i % 7) || '%', i, i * 3, 1e-7 * i FROM n;
  UPDATE [Shelf] SET [Wear] = 9e999 WHERE [Place] = 250;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
    INSERT INTO [Lent] SELECT 'friend ' || (i % 9), i, 9007199254740990 + i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO [Played] SELECT datetime('2020-01-01', i || ' hours'), i * 3 FROM n;
  INSERT INTO "select ""odd"" name, ü" VALUES ('a', 1, '', 0.5, 7), (NULL, -9223372036854775808, '''', 1e300, 9), ('', NULL, ',', -0.1, 9223372036854775806);
  INSERT INTO [Summed] ([A], [B]) VALUES (1, 2), (NULL, 2), (-5, 5);
  INSERT INTO [Strict] VALUES ('007', 9007199254740992, 5e-324, x''), ('7', 1, 1.7976931348623157e308, x'00'), ('a/b?', NULL, NULL, NULL);`
const LIKE_CHINOOK_ROWS = 300 + 1200 + 500 + 400 + 600 + 3 + 3 + 3

t.test('the API returns and changes a generated database as SQLite does', (t) =>
  compareWithSqlite(t, createDatabase(t, LIKE_CHINOOK), LIKE_CHINOOK_ROWS)
)

const isAbsent = existsSync(CHINOOK) ? false : `Chinook is not at ${CHINOOK}. The generated database is tested instead.`

/** Chinook has no views. */
const VIEWS = `
  CREATE VIEW "Track List" AS SELECT t.*, a.Title, r.Name AS Artist, g.Name AS Genre, m.Name AS "Media Type", Bytes / 1024.0
    FROM Track AS t JOIN Album AS a USING (AlbumId) JOIN Artist AS r USING (ArtistId) LEFT JOIN Genre AS g USING (GenreId)
    JOIN MediaType AS m ON m.MediaTypeId = t.MediaTypeId;
  CREATE VIEW "Sales by Country" AS SELECT BillingCountry, count(*), sum(Total), min(InvoiceDate) FROM Invoice
    GROUP BY BillingCountry ORDER BY sum(Total) DESC;
  CREATE VIEW "People" AS SELECT FirstName, LastName, Email, 'employee' AS kind FROM Employee
    UNION ALL SELECT FirstName, LastName, Email, 'customer' FROM Customer;`

const withViews = (t: Test, original: string) => {
  const file = join(temporaryDirectory(t), 'views.sqlite')
  copyFileSync(original, file)
  const db = new BetterSqlite3(file)
  db.exec(VIEWS)
  db.close()
  return file
}

t.test('the API returns and changes Chinook as SQLite does', { skip: isAbsent }, (t) =>
  compareWithSqlite(t, withViews(t, CHINOOK), CHINOOK_ROWS)
)
