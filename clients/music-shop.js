import Database from 'better-sqlite3'

/**
 * Some tables of Chinook: foreign keys, also to the same table, a composite key, a date, NVARCHAR and NUMERIC columns. The
 * name `Playlist Track` needs percent-encoding, so its paths have the client name, `PlaylistTrack`.
 */
const SQL = `
  CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Name] NVARCHAR(120));
  CREATE TABLE [Album] (
    [AlbumId] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL,
    FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId])
  );
  CREATE TABLE [Track] (
    [TrackId] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Name] NVARCHAR(200) NOT NULL, [AlbumId] INTEGER,
    [Milliseconds] INTEGER NOT NULL, [Bytes] INTEGER, [UnitPrice] NUMERIC(10,2) NOT NULL,
    FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId])
  );
  CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [Name] NVARCHAR(120));
  CREATE TABLE [Playlist Track] (
    [PlaylistId] INTEGER NOT NULL REFERENCES [Playlist], [TrackId] INTEGER NOT NULL REFERENCES [Track],
    PRIMARY KEY ([PlaylistId], [TrackId])
  );
  CREATE TABLE [Employee] (
    [EmployeeId] INTEGER NOT NULL PRIMARY KEY, [LastName] NVARCHAR(20) NOT NULL, [ReportsTo] INTEGER REFERENCES [Employee],
    [HireDate] DATE CHECK ([HireDate] IS date([HireDate]) AND [HireDate] >= '1900-01-01')
  );
  INSERT INTO [Artist] ([Name]) VALUES ('AC/DC'), ('Accept'), ('Aerosmith');
  INSERT INTO [Album] ([Title], [ArtistId]) VALUES
    ('For Those About To Rock We Salute You', 1), ('Balls to the Wall', 2), ('Restless and Wild', 2),
    ('Let There Be Rock', 1), ('Big Ones', 3);
  INSERT INTO [Track] ([Name], [AlbumId], [Milliseconds], [Bytes], [UnitPrice]) VALUES
    ('For Those About To Rock', 1, 343719, 11170334, 0.99), ('Fast As a Shark', 3, 230619, 3990994, 0.99),
    ('Walk On Water', 5, 295680, 9719579, 1.29);
  INSERT INTO [Playlist] ([Name]) VALUES ('Music'), ('Classical');
  INSERT INTO [Playlist Track] VALUES (1, 1), (1, 2), (2, 3);
  INSERT INTO [Employee] VALUES (1, 'Adams', NULL, '2002-08-14'), (2, 'Edwards', 1, NULL);
`

const create = (file) => {
  const database = new Database(file)
  database.exec(SQL)
  database.close()
}

/** The tokens of a scenario. `reader` is for the calls that must be refused. */
const TOKENS = {
  main: { tables: ['*'], actions: ['read', 'write'] },
  reader: { tables: ['Album', 'orders'], actions: ['read'] }
}

export const musicShop = { create, tokens: () => TOKENS }
