//! SQLite: migrations and one repository a table
