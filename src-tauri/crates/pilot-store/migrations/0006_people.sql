-- What the person wrote in the app: memory, skills, files that were added. Kept beside the record so that each can be
-- undone. A row without `done_at` is a write under way, or cut off with its process. No reference to `artifacts`: a
-- task's writes have their own rows there.
CREATE TABLE edits (
    id        TEXT PRIMARY KEY NOT NULL,
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    path      TEXT NOT NULL,
    action    TEXT NOT NULL,
    before    TEXT,
    after     TEXT,
    size      INTEGER NOT NULL,
    process   TEXT NOT NULL,
    temp_name TEXT NOT NULL,
    undoes    TEXT,
    begun_at  INTEGER NOT NULL,
    done_at   INTEGER,
    undone_at INTEGER
) STRICT;
CREATE INDEX edits_by_path ON edits (workspace, path, done_at);
CREATE INDEX edits_open ON edits (begun_at) WHERE done_at IS NULL;
CREATE INDEX artifacts_by_path ON artifacts (workspace, path, at);
