-- Maintenance: what jobs keep, and when they ran.

CREATE TABLE snapshot (
    agent TEXT NOT NULL,
    day   TEXT NOT NULL,               -- such as 2026-01-05, in local time
    body  TEXT NOT NULL,               -- JSON
    PRIMARY KEY (agent, day)
) WITHOUT ROWID;

CREATE TABLE run (
    job      TEXT PRIMARY KEY,
    due      INTEGER NOT NULL,         -- the time of the schedule that was last kept; at first, since when it counts
    failures INTEGER NOT NULL,         -- in a row
    retry_at INTEGER,                  -- when a failed run is tried again
    last     TEXT                      -- JSON: the last run
) WITHOUT ROWID;

-- An operation is open while a job carries it out, a step at a time. The next start completes it.
ALTER TABLE operation ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
CREATE INDEX operation_actor ON operation (actor, id);

-- What a person took back of a job's operations that are in the archive. The job does not do it again.
CREATE TABLE taken_back (
    actor     TEXT NOT NULL,
    item      TEXT NOT NULL,
    operation INTEGER NOT NULL,
    PRIMARY KEY (actor, item, operation)
) WITHOUT ROWID;
CREATE INDEX taken_back_operation ON taken_back (operation);
CREATE INDEX operation_undoes ON operation (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX outcome_used ON outcome (agent, id) WHERE used = 1 AND void = 0;
CREATE TABLE review (
    week TEXT PRIMARY KEY,             -- such as 2026-W02, in local time
    body TEXT NOT NULL                 -- JSON
) WITHOUT ROWID;

-- What reviews add up.
ALTER TABLE recall ADD COLUMN context TEXT;
CREATE INDEX recall_at ON recall (at);
CREATE INDEX outcome_at ON outcome (at);
CREATE INDEX evaluation_figures ON evaluation (at, agent, success, quality);
DROP INDEX evaluation_at;
