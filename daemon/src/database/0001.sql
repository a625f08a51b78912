-- Instants are microseconds since 1970 in UTC; days are days since 1970 in UTC. Agents stand in lower case.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The store.

CREATE TABLE agent (
    key        TEXT PRIMARY KEY,
    name       TEXT NOT NULL,          -- as first written
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE collection (
    id         INTEGER PRIMARY KEY,
    agent      TEXT NOT NULL REFERENCES agent (key),
    project    TEXT NOT NULL,          -- a hash, or empty for the global scope
    created_at INTEGER NOT NULL,
    UNIQUE (agent, project)
);

CREATE TABLE improvement (
    row             INTEGER PRIMARY KEY AUTOINCREMENT,
    collection      INTEGER NOT NULL REFERENCES collection (id),
    id              TEXT NOT NULL,
    document        TEXT NOT NULL,
    digest          BLOB NOT NULL,     -- of the normalised document
    category        TEXT NOT NULL,
    confidence      REAL NOT NULL,
    created_at      INTEGER NOT NULL,
    learned_from    TEXT,
    tags            TEXT NOT NULL,     -- JSON list
    deprecated      INTEGER NOT NULL,
    cross_validated INTEGER NOT NULL,
    body            TEXT NOT NULL,     -- JSON of the other fields
    UNIQUE (collection, id)
);
CREATE INDEX improvement_id ON improvement (id);
CREATE INDEX improvement_digest ON improvement (collection, digest);
CREATE INDEX improvement_created ON improvement (created_at);

CREATE TABLE vector (
    row    INTEGER PRIMARY KEY REFERENCES improvement (row) ON DELETE CASCADE,
    vector BLOB NOT NULL               -- f32, little endian
);

CREATE TABLE evaluation (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    agent   TEXT NOT NULL,
    id      TEXT NOT NULL,
    at      INTEGER NOT NULL,
    success INTEGER NOT NULL,
    quality REAL NOT NULL,
    body    TEXT NOT NULL,             -- JSON
    UNIQUE (agent, id)
);
CREATE INDEX evaluation_at ON evaluation (at);
CREATE INDEX evaluation_agent_at ON evaluation (agent, at);

CREATE TABLE profile (
    agent TEXT PRIMARY KEY,
    body  TEXT NOT NULL                -- JSON
) WITHOUT ROWID;

-- The ledger.

CREATE TABLE usage (                   -- what became of an improvement; follows from baseline and outcomes
    agent         TEXT NOT NULL,
    id            TEXT NOT NULL,
    usage_count   INTEGER NOT NULL,
    success_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    last_used     INTEGER,
    access_count  INTEGER NOT NULL,
    last_accessed INTEGER,
    q             REAL NOT NULL,       -- decayed up to, not including, the day after q_day
    q_day         INTEGER NOT NULL,
    idle_days     INTEGER NOT NULL,    -- days decayed since the last outcome
    PRIMARY KEY (agent, id)
) WITHOUT ROWID;

CREATE TABLE baseline (                -- usage that was imported
    agent TEXT NOT NULL,
    id    TEXT NOT NULL,
    body  TEXT NOT NULL,               -- JSON
    PRIMARY KEY (agent, id)
) WITHOUT ROWID;

CREATE TABLE outcome (                 -- append-only
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    operation INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    id        TEXT NOT NULL,
    at        INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    success   INTEGER NOT NULL,
    idle_days INTEGER NOT NULL,
    counted   INTEGER NOT NULL,        -- whether usage follows from it; not so when it was imported beside its usage
    void      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outcome_item ON outcome (agent, id);
CREATE INDEX outcome_operation ON outcome (operation);

CREATE TABLE evidence (                -- the task of an outcome whose improvement was used
    outcome INTEGER PRIMARY KEY REFERENCES outcome (n) ON DELETE CASCADE,
    task    TEXT NOT NULL,
    vector  BLOB
);

CREATE TABLE context (
    name         TEXT PRIMARY KEY,
    interactions INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE recall (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    agent     TEXT NOT NULL,
    at        INTEGER NOT NULL,
    operation INTEGER,                 -- that of its report
    success   INTEGER,
    body      BLOB NOT NULL            -- the explanation
);
CREATE INDEX recall_open ON recall (at) WHERE operation IS NULL;

CREATE TABLE report (
    agent     TEXT NOT NULL,
    id        TEXT NOT NULL,
    operation INTEGER NOT NULL,
    reply     BLOB NOT NULL,
    PRIMARY KEY (agent, id)
) WITHOUT ROWID;
CREATE INDEX report_operation ON report (operation);

-- The journal.

CREATE TABLE operation (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    actor     TEXT NOT NULL,
    reason    TEXT NOT NULL,
    agent     TEXT,
    undoes    INTEGER,
    undone_by INTEGER
);

CREATE TABLE change (
    operation INTEGER NOT NULL REFERENCES operation (id) ON DELETE CASCADE,
    n         INTEGER NOT NULL,
    item      TEXT NOT NULL,           -- what was touched, such as improvement:agent:project:id
    body      TEXT NOT NULL,           -- JSON: before and after
    PRIMARY KEY (operation, n)
) WITHOUT ROWID;
CREATE INDEX change_item ON change (item, operation);
