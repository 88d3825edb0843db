-- Schedules and channels of the webhook. Times, digests and ids as in 0001.

-- `looked_at`: everything up to here was decided; slots after it are still to come.
CREATE TABLE schedules (
    id         TEXT PRIMARY KEY NOT NULL,
    workspace  TEXT NOT NULL REFERENCES workspaces (id),
    rule       TEXT NOT NULL,
    zone       TEXT,
    goal       TEXT NOT NULL,
    provider   TEXT,
    paused     INTEGER NOT NULL,
    looked_at  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;

-- What became of each slot. `slot` is the moment of a slot that was decided by itself; a run by hand has none, nor has
-- a note about slots that were missed (`since` to `upto`, `slots` of them).
CREATE TABLE schedule_runs (
    id       INTEGER PRIMARY KEY,
    schedule TEXT NOT NULL REFERENCES schedules (id),
    slot     INTEGER,
    state    TEXT NOT NULL CHECK (state IN ('started', 'by_hand', 'skipped', 'missed', 'refused')),
    task     TEXT REFERENCES tasks (id) ON DELETE SET NULL,
    code     TEXT,
    since    INTEGER,
    upto     INTEGER,
    slots    INTEGER NOT NULL,
    more     INTEGER NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
-- A slot is decided once, however often the clock passes it and however many processes look.
CREATE UNIQUE INDEX schedule_runs_once ON schedule_runs (schedule, slot) WHERE slot IS NOT NULL;
CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule, id);
CREATE INDEX schedule_runs_by_task ON schedule_runs (task) WHERE task IS NOT NULL;

-- `token` is the SHA-256 of the token; the token itself is nowhere.
CREATE TABLE channels (
    id           TEXT PRIMARY KEY NOT NULL,
    workspace    TEXT NOT NULL REFERENCES workspaces (id),
    name         TEXT NOT NULL,
    token        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    accepted     INTEGER NOT NULL,
    accepted_at  INTEGER,
    refused      INTEGER NOT NULL,
    refused_at   INTEGER,
    refused_code TEXT
) STRICT;

CREATE TABLE channel_tasks (
    task    TEXT PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    channel TEXT NOT NULL REFERENCES channels (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_tasks_by_channel ON channel_tasks (channel, task);
