-- The projects that something was logged in.

CREATE TABLE project (
    hash  TEXT PRIMARY KEY,
    name  TEXT NOT NULL,               -- that of its folder
    root  TEXT NOT NULL,
    since INTEGER NOT NULL
) WITHOUT ROWID;
