-- A Chroma server that holds the same improvements, evaluations and snapshots.

CREATE TABLE outbox (                  -- records that changed here since the server was told, in order
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind    TEXT NOT NULL,             -- improvement, evaluation or snapshot
    agent   TEXT NOT NULL,
    project TEXT NOT NULL,             -- a hash, or empty
    id      TEXT NOT NULL,             -- of a snapshot, its day
    changes INTEGER NOT NULL,          -- since it is here
    aside   TEXT,                      -- why the server refuses it
    UNIQUE (kind, agent, project, id)
);

CREATE TABLE mirror (                  -- records of the server, as they were when both sides last agreed
    kind    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    project TEXT NOT NULL,
    id      TEXT NOT NULL,
    body    TEXT NOT NULL,             -- JSON: marks of the values of both sides
    PRIMARY KEY (kind, agent, project, id)
) WITHOUT ROWID;

CREATE TABLE remote (                   -- the collections of the server that are known
    kind    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    project TEXT NOT NULL,
    remote   TEXT NOT NULL,             -- the id that the server gave it
    PRIMARY KEY (kind, agent, project)
) WITHOUT ROWID;

-- Whatever changes a record says so in the outbox, in the same transaction. While no server is shared with, meta has no
-- `chroma`, and nothing is kept.

CREATE TRIGGER outbox_improvement_new AFTER INSERT ON improvement
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    SELECT 'improvement', agent, project, new.id, 1 FROM collection WHERE id = new.collection
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_improvement_changed AFTER UPDATE ON improvement
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    SELECT 'improvement', agent, project, new.id, 1 FROM collection WHERE id = new.collection
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_improvement_gone AFTER DELETE ON improvement
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    SELECT 'improvement', agent, project, old.id, 1 FROM collection WHERE id = old.collection
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

-- A recall alone changes nothing that the server is told.

CREATE TRIGGER outbox_usage_new BEFORE INSERT ON usage
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma')
    AND NOT EXISTS (
        SELECT 1 FROM usage AS known
        WHERE known.agent = new.agent AND known.id = new.id
            AND known.usage_count = new.usage_count AND known.success_count = new.success_count
            AND known.last_used IS new.last_used)
BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    SELECT 'improvement', agent, project, improvement.id, 1
    FROM improvement JOIN collection ON collection.id = collection
    WHERE improvement.id = new.id AND agent = new.agent
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_usage_gone AFTER DELETE ON usage
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    SELECT 'improvement', agent, project, improvement.id, 1
    FROM improvement JOIN collection ON collection.id = collection
    WHERE improvement.id = old.id AND agent = old.agent
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_evaluation_new AFTER INSERT ON evaluation
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    VALUES ('evaluation', new.agent, '', new.id, 1)
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_evaluation_gone AFTER DELETE ON evaluation
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    VALUES ('evaluation', old.agent, '', old.id, 1)
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_snapshot_new AFTER INSERT ON snapshot
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    VALUES ('snapshot', new.agent, '', new.day, 1)
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;

CREATE TRIGGER outbox_snapshot_gone AFTER DELETE ON snapshot
WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'chroma') BEGIN
    INSERT INTO outbox (kind, agent, project, id, changes)
    VALUES ('snapshot', old.agent, '', old.day, 1)
    ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL;
END;
