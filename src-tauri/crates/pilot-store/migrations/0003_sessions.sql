-- A conversation. Its tasks are its turns; there is no table of messages, the tasks and their events are the record.
CREATE TABLE sessions (
    id          TEXT PRIMARY KEY NOT NULL,
    workspace   TEXT NOT NULL REFERENCES workspaces (id),
    title       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,
    archived_at INTEGER
) STRICT;
CREATE INDEX sessions_by_workspace ON sessions (workspace, used_at);
CREATE INDEX sessions_by_use ON sessions (used_at);

-- What a follow-up was given of the turns before it: cut and marked once, so that a task that goes on later has the same
-- conversation. No reference to the task that is followed: it may be deleted, and takes its words along.
CREATE TABLE task_contexts (
    task         TEXT PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    follow_up_of TEXT NOT NULL,
    text         TEXT NOT NULL
) STRICT;

-- Each task that has no conversation yet becomes one of its own.
UPDATE tasks SET session = id WHERE session IS NULL;
INSERT INTO sessions (id, workspace, title, created_at, used_at)
SELECT session, workspace, substr(trim(replace(replace(goal, char(13), ' '), char(10), ' ')), 1, 80), min(created_at),
       max(created_at)
FROM tasks GROUP BY session;
