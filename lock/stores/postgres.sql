-- SPDX-License-Identifier: MIT
-- postgres.sql -- what the pg locks need in a database: three tables and a function.
--
-- Run it as the owner of the database, as often as you like.  The role that locks needs
-- SELECT, INSERT, UPDATE and DELETE on the tables; db/schema.sql grants that to the
-- service's.  Names are bytes, since the name of a lock need not be text.

-- pg-unique: one row per held lock.
CREATE TABLE IF NOT EXISTS dlock_lock (
    name       bytea       PRIMARY KEY,
    owner      text        NOT NULL,               -- "uuid:number"
    hold_count integer     NOT NULL CHECK (hold_count > 0),
    expires_at timestamptz NOT NULL                -- by this server's clock
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS dlock_lock_by_expiry ON dlock_lock (expires_at);

-- pg-row: one row per lock that is held or waited for; being locked is what counts, so
-- that nothing is lost if a crash empties the table.
CREATE UNLOGGED TABLE IF NOT EXISTS dlock_row (
    name bytea PRIMARY KEY
);

-- pg-fair: the holder, and who waits, in the order of arrival.
CREATE TABLE IF NOT EXISTS dlock_queue (
    ticket     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       bytea       NOT NULL,
    owner      text        NOT NULL,
    token      text        NOT NULL,
    granted    boolean     NOT NULL DEFAULT false,
    expires_at timestamptz NOT NULL,               -- a holder's lease, a waiter's sign of life
    CONSTRAINT dlock_queue_once UNIQUE (name, owner)
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS dlock_queue_by_name ON dlock_queue (name, ticket);
