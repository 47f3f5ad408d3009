-- SPDX-License-Identifier: MIT
-- postgres.sql -- what the pg locks need in a database: three tables and a function; and a
-- sequence for the fences of `fenced`.
--
-- Run it as the owner of the database, as often as you like.  The role that locks needs
-- SELECT, INSERT, UPDATE and DELETE on the tables and USAGE on the sequence; db/schema.sql
-- grants that to the service's.  Names are bytes, since the name of a lock need not be text.

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

-- One attempt of `owner` at `lock`, all attempts at one lock one after another.  Who is
-- first in the queue holds it.  Answers -1: granted; otherwise for how many more ms the
-- one who is first has shown to live.
--
-- Rows of the dead are deleted before anybody is counted, so whoever stopped for longer
-- than its sign of life lasts has lost its place and comes last: it cannot come back to
-- life before someone who has entered since.
--
-- A waiter's row is only written when half its time is over, so that most looks at the
-- queue write nothing.
CREATE OR REPLACE FUNCTION dlock_queue_try(lock bytea, who text, attempt text,
                                           lease_ms integer, waiter_ms integer,
                                           waits boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at    timestamptz;
    mine  dlock_queue%ROWTYPE;
    first dlock_queue%ROWTYPE;
BEGIN
    PERFORM pg_advisory_xact_lock(1684827243, hashtext(encode(lock, 'escape')));
    at := clock_timestamp();
    DELETE FROM dlock_queue WHERE name = lock AND expires_at <= at;
    SELECT * INTO mine FROM dlock_queue WHERE name = lock AND owner = who;
    SELECT * INTO first FROM dlock_queue WHERE name = lock ORDER BY ticket LIMIT 1;
    IF first.ticket IS NULL OR (first.ticket = mine.ticket AND NOT mine.granted)
       OR (mine.granted AND mine.token = attempt) THEN
        INSERT INTO dlock_queue (name, owner, token, granted, expires_at)
            VALUES (lock, who, attempt, true, at + lease_ms * interval '1 ms')
            ON CONFLICT (name, owner) DO UPDATE
            SET token = excluded.token, granted = true, expires_at = excluded.expires_at;
        RETURN -1;
    END IF;
    IF waits AND mine.granted IS NOT TRUE
       AND (mine.ticket IS NULL
            OR mine.expires_at < at + waiter_ms / 2 * interval '1 ms') THEN
        INSERT INTO dlock_queue (name, owner, token, expires_at)
            VALUES (lock, who, attempt, at + waiter_ms * interval '1 ms')
            ON CONFLICT (name, owner) DO UPDATE
            SET token = excluded.token, expires_at = excluded.expires_at;
    END IF;
    RETURN greatest(0, ceil(extract(epoch FROM first.expires_at - at) * 1000));
END $$;

-- fenced: where a counter of fences begins that is new, or was lost with the data of its
-- Redis, is a number of this times 2^32; so it ends where a bigint does.
CREATE SEQUENCE IF NOT EXISTS dlock_fence_epoch AS integer NO CYCLE;
