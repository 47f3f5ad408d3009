-- SPDX-License-Identifier: MIT
-- postgres.sql -- three tables and a function for the pg locks, and a sequence for the
-- fences of `fenced`.
--
-- Run it as the owner of the database, as often as you like.  The role of the lock
-- library needs SELECT, INSERT, UPDATE and DELETE on the tables and USAGE on the
-- sequence; db/schema.sql grants these rights to the service's role.  Names have the
-- type bytea, because the name of a lock need not be valid text.

-- pg-unique: one row per held lock.
CREATE TABLE IF NOT EXISTS dlock_lock (
    name       bytea       PRIMARY KEY,
    owner      text        NOT NULL,               -- "uuid:number"
    hold_count integer     NOT NULL CHECK (hold_count > 0),
    expires_at timestamptz NOT NULL                -- by this server's clock
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS dlock_lock_by_expiry ON dlock_lock (expires_at);

-- pg-row: one row per lock that is held or waited for.  Only the lock on the row
-- matters, so the table may lose its rows in a crash.
CREATE UNLOGGED TABLE IF NOT EXISTS dlock_row (
    name bytea PRIMARY KEY
);

-- pg-fair: the holder and the waiters, in the order of arrival.
CREATE TABLE IF NOT EXISTS dlock_queue (
    ticket     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       bytea       NOT NULL,
    owner      text        NOT NULL,
    token      text        NOT NULL,
    granted    boolean     NOT NULL DEFAULT false,
    expires_at timestamptz NOT NULL,               -- of a holder's lease, of a waiter's place
    CONSTRAINT dlock_queue_once UNIQUE (name, owner)
) WITH (fillfactor = 70);

CREATE INDEX IF NOT EXISTS dlock_queue_by_name ON dlock_queue (name, ticket);

-- Make one attempt of `owner` to take `lock`.  Attempts for one lock run one after
-- another.  The first in the queue holds the lock.  Answers -1: granted; otherwise the
-- number of ms until the row of the first expires.
--
-- Expired rows are deleted first.  So an owner that was stopped until its row expired
-- has lost its place, and queues again as the last: it cannot overtake an owner that
-- has come since.
--
-- A waiter's row is renewed only when half of its time has passed, so that most
-- attempts write nothing.
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

-- fenced: the sequence of epochs.  A counter of fences that is new, or was lost with
-- the data of its Redis, begins at an epoch times 2^32.  The last epoch is the last for
-- which this fits into a bigint.
CREATE SEQUENCE IF NOT EXISTS dlock_fence_epoch AS integer NO CYCLE;
