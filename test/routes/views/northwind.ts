/** A small shop in the spirit of Microsoft's sample database Northwind, with names and views as that has them. */
export const NORTHWIND = `
  CREATE TABLE Categories (CategoryID INTEGER PRIMARY KEY, CategoryName TEXT NOT NULL, Description TEXT, Picture BLOB);
  CREATE TABLE Suppliers (SupplierID INTEGER PRIMARY KEY, CompanyName TEXT NOT NULL, ContactName TEXT, City TEXT, Country TEXT);
  CREATE TABLE Shippers (ShipperID INTEGER PRIMARY KEY, CompanyName TEXT NOT NULL, Phone TEXT);
  CREATE TABLE Customers (CustomerID TEXT PRIMARY KEY, CompanyName TEXT NOT NULL, ContactName TEXT, Address TEXT, City TEXT,
    Region TEXT, PostalCode TEXT, Country TEXT);
  CREATE TABLE Employees (EmployeeID INTEGER PRIMARY KEY, LastName TEXT, FirstName TEXT);
  CREATE TABLE Products (ProductID INTEGER PRIMARY KEY, ProductName TEXT NOT NULL, SupplierID INTEGER REFERENCES Suppliers,
    CategoryID INTEGER REFERENCES Categories, QuantityPerUnit TEXT, UnitPrice NUMERIC DEFAULT 0, UnitsInStock INTEGER,
    Discontinued TEXT NOT NULL DEFAULT '0');
  CREATE TABLE Orders (OrderID INTEGER PRIMARY KEY, CustomerID TEXT REFERENCES Customers, EmployeeID INTEGER REFERENCES Employees,
    OrderDate DATETIME, RequiredDate DATETIME, ShippedDate DATETIME, ShipVia INTEGER REFERENCES Shippers, Freight NUMERIC,
    ShipName TEXT, ShipAddress TEXT, ShipCity TEXT, ShipRegion TEXT, ShipPostalCode TEXT, ShipCountry TEXT);
  CREATE TABLE "Order Details" (OrderID INTEGER REFERENCES Orders, ProductID INTEGER REFERENCES Products,
    UnitPrice NUMERIC NOT NULL, Quantity INTEGER NOT NULL, Discount REAL NOT NULL, PRIMARY KEY (OrderID, ProductID));

  INSERT INTO Categories VALUES (1, 'Beverages', 'Soft drinks, "coffees"', x'00ff'), (2, 'Condiments', 'Sauces', NULL),
    (3, 'Seafood', 'Fish', x'');
  INSERT INTO Suppliers VALUES (1, 'Exotic Liquids', 'Charlotte', 'London', 'UK'), (2, 'Köstlich', 'Jörg', 'Berlin', 'Germany'),
    (3, 'Mar & Sal', NULL, 'São Paulo', 'Brazil');
  INSERT INTO Shippers VALUES (1, 'Speedy', '555-1'), (2, 'United', NULL);
  INSERT INTO Customers VALUES ('ALFKI', 'Alfreds', 'Maria', 'Street 1', 'Berlin', NULL, '12209', 'Germany'),
    ('BONAP', 'Bon app''', 'Laurence', 'Rue 12', 'Marseille', NULL, '13008', 'France'),
    ('QUEEN', 'Queen', 'Lúcia', 'Alameda 891', 'São Paulo', 'SP', '05487-020', 'Brazil'),
    ('IDLE', 'Idle', NULL, NULL, NULL, NULL, NULL, NULL);
  INSERT INTO Employees VALUES (1, 'Davolio', 'Nancy'), (2, 'Fuller', 'Andrew');
  INSERT INTO Products VALUES (1, 'Chai', 1, 1, '10 boxes', 18, 39, '0'), (2, 'Chang', 1, 1, '24 bottles', 19.5, 17, '0'),
    (3, 'Aniseed Syrup', 1, 2, '12 bottles', 10, 13, '0'), (4, 'Ikura', 3, 3, '12 jars', 31, 31, '1'),
    (5, 'Konbu', 3, 3, '2 kg', 6, 24, '0'), (6, 'Relish', 2, 2, NULL, 25, NULL, '0');
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
  INSERT INTO Orders SELECT 10248 + i, CASE i % 3 WHEN 0 THEN 'ALFKI' WHEN 1 THEN 'BONAP' ELSE 'QUEEN' END, i % 2 + 1,
    date('1996-07-04', (i * 13) || ' days'), date('1996-08-01', (i * 13) || ' days'),
    CASE WHEN i % 7 THEN date('1996-07-16', (i * 13) || ' days') END, i % 2 + 1, i * 1.25, 'Ship ' || i, NULL, 'Reims', NULL,
    '51100', 'France' FROM n;
  INSERT INTO "Order Details" SELECT OrderID, ProductID, UnitPrice, OrderID * ProductID % 40 + 1, (OrderID % 4) * 0.05
    FROM Orders, Products WHERE (OrderID + ProductID) % 3 = 0;

  CREATE VIEW "Alphabetical list of products" AS SELECT Products.*, Categories.CategoryName FROM Categories
    INNER JOIN Products ON Categories.CategoryID = Products.CategoryID WHERE Products.Discontinued = '0';
  CREATE VIEW "Current Product List" AS SELECT ProductID, ProductName FROM Products WHERE Discontinued = '0' ORDER BY ProductName;
  CREATE VIEW "Customer and Suppliers by City" AS
    SELECT City, CompanyName, ContactName, 'Customers' AS Relationship FROM Customers
    UNION SELECT City, CompanyName, ContactName, 'Suppliers' FROM Suppliers ORDER BY City, CompanyName;
  CREATE VIEW "Invoices" AS SELECT Orders.ShipName, Orders.ShipAddress, Orders.ShipCity, Orders.ShipRegion,
    Orders.ShipPostalCode, Orders.ShipCountry, Orders.CustomerID, Customers.CompanyName AS CustomerName, Customers.Address,
    Customers.City, Customers.Region, Customers.PostalCode, Customers.Country,
    (Employees.FirstName || ' ' || Employees.LastName) AS Salesperson, Orders.OrderID, Orders.OrderDate,
    Orders.RequiredDate, Orders.ShippedDate, Shippers.CompanyName, "Order Details".ProductID, Products.ProductName,
    "Order Details".UnitPrice, "Order Details".Quantity, "Order Details".Discount,
    ((("Order Details".UnitPrice * Quantity * (1 - Discount)) / 100) * 100) AS ExtendedPrice, Orders.Freight
    FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID
    JOIN Employees ON Employees.EmployeeID = Orders.EmployeeID
    JOIN "Order Details" ON Orders.OrderID = "Order Details".OrderID
    JOIN Products ON Products.ProductID = "Order Details".ProductID
    JOIN Shippers ON Shippers.ShipperID = Orders.ShipVia;
  CREATE VIEW "Orders Qry" AS SELECT Orders.*, Customers.CompanyName, Customers.Address, Customers.City, Customers.CustomerID
    FROM Customers INNER JOIN Orders ON Customers.CustomerID = Orders.CustomerID;
  CREATE VIEW "Order Subtotals" AS SELECT "Order Details".OrderID,
    sum(("Order Details".UnitPrice * Quantity * (1 - Discount) / 100) * 100) AS Subtotal
    FROM "Order Details" GROUP BY "Order Details".OrderID;
  CREATE VIEW "Order Details Extended" AS SELECT "Order Details".OrderID, "Order Details".ProductID, Products.ProductName,
    "Order Details".UnitPrice, Quantity, Discount, "Order Details".UnitPrice * Quantity * (1 - Discount)
    FROM Products JOIN "Order Details" ON Products.ProductID = "Order Details".ProductID;
  CREATE VIEW "Product Sales for 1997" AS SELECT Categories.CategoryName, Products.ProductName,
    sum("Order Details".UnitPrice * Quantity * (1 - Discount)) AS ProductSales
    FROM Categories JOIN Products USING (CategoryID) JOIN "Order Details" USING (ProductID) JOIN Orders USING (OrderID)
    WHERE ShippedDate BETWEEN date('1997-01-01') AND date('1997-12-31')
    GROUP BY Categories.CategoryName, Products.ProductName;
  CREATE VIEW "Products Above Average Price" AS SELECT ProductName, UnitPrice FROM Products
    WHERE UnitPrice > (SELECT avg(UnitPrice) FROM Products);
  CREATE VIEW "Products by Category" AS SELECT Categories.CategoryName, Categories.Picture, ProductName, QuantityPerUnit,
    UnitsInStock, Discontinued FROM Categories JOIN Products ON Categories.CategoryID = Products.CategoryID
    WHERE Discontinued <> '1';
  CREATE VIEW "Quarterly Orders" AS SELECT DISTINCT Customers.CustomerID, CompanyName, City, Country
    FROM Customers LEFT JOIN Orders ON Customers.CustomerID = Orders.CustomerID
    WHERE OrderDate BETWEEN date('1997-01-01') AND date('1997-12-31');
  CREATE VIEW "Sales Totals by Amount" AS SELECT "Order Subtotals".Subtotal AS SaleAmount, Orders.OrderID, CompanyName,
    ShippedDate FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID
    JOIN "Order Subtotals" ON Orders.OrderID = "Order Subtotals".OrderID
    WHERE Subtotal > 250 AND ShippedDate BETWEEN date('1997-01-01') AND date('1997-12-31');
  CREATE VIEW "Summary of Sales by Quarter" AS SELECT ShippedDate, Orders.OrderID, Subtotal
    FROM Orders JOIN "Order Subtotals" ON Orders.OrderID = "Order Subtotals".OrderID WHERE ShippedDate IS NOT NULL
    ORDER BY Subtotal;
  CREATE VIEW "Summary of Sales by Year" AS SELECT strftime('%Y', ShippedDate), count(*), round(sum(Subtotal), 2), OrderID
    FROM Orders JOIN "Order Subtotals" USING (OrderID) GROUP BY 1 ORDER BY 1 DESC;
  CREATE VIEW "Category Sales for 1997" AS SELECT CategoryName, sum(ProductSales) AS CategorySales
    FROM "Product Sales for 1997" GROUP BY CategoryName;
  CREATE VIEW "Sales by Category" AS SELECT Categories.CategoryID, CategoryName, Products.ProductName,
    sum("Order Details Extended".UnitPrice * Quantity) AS ProductSales
    FROM Categories JOIN (Products JOIN (Orders JOIN "Order Details Extended" USING (OrderID)) USING (ProductID))
    ON Categories.CategoryID = Products.CategoryID GROUP BY Categories.CategoryID, CategoryName, Products.ProductName
    ORDER BY Products.ProductName;`
