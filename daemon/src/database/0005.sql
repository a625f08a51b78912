-- What is known of the entries of the memory tree beside their files. None of their words is here.

CREATE TABLE note (
    file   TEXT NOT NULL,
    id     TEXT NOT NULL,              -- names what it says
    kind   TEXT NOT NULL,
    sketch BLOB NOT NULL,              -- its words, as numbers
    seen   INTEGER NOT NULL,           -- when it was first seen there
    gone   INTEGER,                    -- since when it is no longer in the file
    PRIMARY KEY (file, id)
) WITHOUT ROWID;
CREATE INDEX note_by_id ON note (id);

-- Notes that were another one before a light edit, and inherit its use.
CREATE TABLE note_alias (
    id       TEXT PRIMARY KEY,
    identity TEXT NOT NULL             -- the id that it had at first
) WITHOUT ROWID;

-- Vectors of what is searched of a note.
CREATE TABLE note_vector (
    digest BLOB PRIMARY KEY,           -- SHA-256 of the text
    vector BLOB NOT NULL,              -- a signed byte for each component
    gone   INTEGER                     -- since when no note has this text
);
