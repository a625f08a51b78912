-- The files that an operation is about to write, a row for each of its steps. They are gone once it is recorded.

CREATE TABLE pending (
    n     INTEGER PRIMARY KEY,
    files TEXT NOT NULL
);
