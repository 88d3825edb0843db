-- All times are microseconds since 1970 UTC, all digests lower-case hexadecimal SHA-256, all ids opaque text.
-- A migration is never edited once it is released: a change is a new file.

PRAGMA application_id = 1347112044;

CREATE TABLE workspaces (
    id          TEXT PRIMARY KEY NOT NULL,
    name        TEXT NOT NULL,
    root        TEXT NOT NULL,
    dev         INTEGER NOT NULL,
    ino         INTEGER NOT NULL,
    provider    TEXT NOT NULL DEFAULT 'offline',
    allowed_mcp TEXT NOT NULL DEFAULT '[]',
    created_at  INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,
    removed_at  INTEGER
) STRICT;
-- A folder is registered once; a removed row keeps the history of its tasks and frees the folder.
CREATE UNIQUE INDEX workspaces_by_root ON workspaces (root) WHERE removed_at IS NULL;

CREATE TABLE consents (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    provider  TEXT NOT NULL,
    host      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (workspace, provider, host)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    id               TEXT PRIMARY KEY NOT NULL,
    workspace        TEXT NOT NULL REFERENCES workspaces (id),
    session          TEXT,
    channel          TEXT NOT NULL,
    goal             TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'waiting_approval', 'completed', 'failed', 'cancelled', 'interrupted')),
    code             TEXT,
    max_steps        INTEGER NOT NULL,
    max_millis       INTEGER NOT NULL,
    max_tokens       INTEGER,
    steps            INTEGER NOT NULL,
    elapsed_millis   INTEGER NOT NULL,
    tokens_in        INTEGER NOT NULL,
    tokens_out       INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    process          TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_by_status ON tasks (status, workspace, created_at, id);
CREATE INDEX tasks_by_workspace ON tasks (workspace, created_at);
CREATE INDEX tasks_by_time ON tasks (created_at);
CREATE INDEX tasks_by_session ON tasks (session) WHERE session IS NOT NULL;

-- Apart from the task, so that the many small updates of a task never rewrite a script of a hundred pages.
CREATE TABLE task_providers (
    task   TEXT PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    choice TEXT NOT NULL
) STRICT;

-- One chain over all tasks. `hash` is SHA-256 over the previous hash (64 zeros for the first) followed by the
-- canonical JSON of {at, event, seq, source, task}; `body` is the canonical JSON of the event, or NULL once the
-- person deleted it. No reference to `tasks`: the chain outlives what it tells about. AUTOINCREMENT remembers the
-- last position, so that rows cut off the end are noticed too.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    task     TEXT,
    source   TEXT NOT NULL,
    body     TEXT,
    hash     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_task ON events (task, seq) WHERE task IS NOT NULL;

-- The one switch that lets the record be shortened; set and cleared within one transaction.
CREATE TABLE retention (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    allowed INTEGER NOT NULL CHECK (allowed IN (0, 1))
) STRICT;
INSERT INTO retention (id, allowed) VALUES (1, 0);

CREATE TRIGGER events_keep_update BEFORE UPDATE ON events
WHEN NOT EXISTS (SELECT 1 FROM retention WHERE allowed = 1)
BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;

CREATE TRIGGER events_keep_delete BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM retention WHERE allowed = 1)
BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;

CREATE TABLE approvals (
    id             TEXT PRIMARY KEY NOT NULL,
    task           TEXT NOT NULL REFERENCES tasks (id),
    workspace      TEXT NOT NULL REFERENCES workspaces (id),
    call_id        TEXT NOT NULL,
    tool           TEXT NOT NULL,
    capability     TEXT NOT NULL,
    risk           TEXT NOT NULL,
    call           TEXT NOT NULL,
    original       TEXT NOT NULL,
    schema         TEXT NOT NULL,
    digest         TEXT NOT NULL,
    path           TEXT,
    base           TEXT,
    effect_kind    TEXT NOT NULL CHECK (effect_kind IN ('write_file', 'outside')),
    content_digest TEXT,
    root_dev       INTEGER NOT NULL,
    root_ino       INTEGER NOT NULL,
    policy_version INTEGER NOT NULL,
    provider       TEXT NOT NULL,
    said           TEXT NOT NULL,
    rest           TEXT NOT NULL,
    steps          INTEGER NOT NULL,
    elapsed_millis INTEGER NOT NULL,
    rev            INTEGER NOT NULL,
    status         TEXT NOT NULL CHECK (status IN
        ('pending', 'executing', 'done', 'failed', 'rejected', 'replaced', 'void', 'unknown')),
    flags          INTEGER NOT NULL,
    asked_at       INTEGER NOT NULL,
    decided_at     INTEGER,
    decided_by     TEXT,
    note           TEXT,
    code           TEXT,
    edited         INTEGER NOT NULL,
    replaces       TEXT REFERENCES approvals (id),
    replaced_by    TEXT REFERENCES approvals (id)
) STRICT;
CREATE INDEX approvals_by_status ON approvals (status, asked_at);
CREATE INDEX approvals_by_task ON approvals (task, status);

-- Apart from the card, so that listing cards never reads megabytes.
CREATE TABLE approval_bytes (
    approval TEXT PRIMARY KEY NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
    bytes    BLOB NOT NULL
) STRICT;

-- UNIQUE (approval): one approval is at most one execution, whoever asks and however often.
CREATE TABLE executions (
    operation        TEXT PRIMARY KEY NOT NULL,
    approval         TEXT NOT NULL UNIQUE REFERENCES approvals (id),
    task             TEXT NOT NULL REFERENCES tasks (id),
    process          TEXT NOT NULL,
    arguments_digest TEXT NOT NULL,
    base             TEXT,
    result           TEXT,
    temp_name        TEXT NOT NULL,
    path             TEXT,
    started_at       INTEGER NOT NULL,
    finished_at      INTEGER,
    outcome          TEXT CHECK (outcome IN ('done', 'failed', 'unknown')),
    code             TEXT
) STRICT;
CREATE INDEX executions_open ON executions (started_at) WHERE outcome IS NULL;

CREATE TABLE artifacts (
    id        TEXT PRIMARY KEY NOT NULL,
    task      TEXT NOT NULL REFERENCES tasks (id),
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    approval  TEXT NOT NULL REFERENCES approvals (id),
    path      TEXT NOT NULL,
    size      INTEGER NOT NULL,
    digest    TEXT NOT NULL,
    previous  TEXT,
    created   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    undone_at INTEGER
) STRICT;
CREATE INDEX artifacts_by_workspace ON artifacts (workspace, at);
CREATE INDEX artifacts_by_task ON artifacts (task);
CREATE INDEX artifacts_by_time ON artifacts (at);

CREATE TABLE settings (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    day        TEXT NOT NULL,
    provider   TEXT NOT NULL,
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    estimated  INTEGER NOT NULL,
    PRIMARY KEY (day, provider)
) STRICT, WITHOUT ROWID;
