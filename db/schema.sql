-- SPDX-License-Identifier: MIT
-- schema.sql -- vouchers, their stock, and the orders for them.
--
-- The tables and columns are those that course projects on flash sales share, so that a
-- reader's own queries work here.  Added to them are the request's id, the process that
-- wrote the row, and the numbers that two of the stock guards need.
--
-- There is on purpose no CHECK (stock >= 0), no unconditional UNIQUE (user, voucher) and no
-- trigger: they would hide the damage that a broken lock does.  The constraint of a guard
-- binds only the rows that were written under this guard (see orders_one_per_user).
--
-- Run this file as the owner of the database, as often as you like: it makes the missing
-- tables (psql -1 -f db/schema.sql).  Two roles must exist: seckill_lab, which owns
-- everything, and seckill_service, which may only sell and lock.  Run
-- lock/stores/postgres.sql first, if you use the pg locks.

CREATE TABLE IF NOT EXISTS tb_voucher (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shop_id      bigint        NOT NULL DEFAULT 1,
    title        varchar(255)  NOT NULL,
    sub_title    varchar(255),
    rules        varchar(1024),
    pay_value    bigint        NOT NULL CHECK (pay_value >= 0),     -- cents
    actual_value bigint        NOT NULL CHECK (actual_value >= 0),  -- cents
    type         smallint      NOT NULL DEFAULT 1,                  -- 0 ordinary, 1 seckill
    status       smallint      NOT NULL DEFAULT 1,                  -- 1 on, 2 off, 3 expired
    create_time  timestamptz   NOT NULL DEFAULT now(),
    update_time  timestamptz   NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS voucher_by_shop ON tb_voucher (shop_id);

CREATE TABLE IF NOT EXISTS tb_seckill_voucher (
    voucher_id   bigint        PRIMARY KEY REFERENCES tb_voucher (id),
    stock        integer       NOT NULL,              -- may go negative: that is a finding
    version      bigint        NOT NULL DEFAULT 0,    -- stock guard `version`
    fence        bigint        NOT NULL DEFAULT 0,    -- stock guard `fence`
    begin_time   timestamptz   NOT NULL,              -- both ends are part of the sale
    end_time     timestamptz   NOT NULL,
    create_time  timestamptz   NOT NULL DEFAULT now(),
    update_time  timestamptz   NOT NULL DEFAULT now(),
    CONSTRAINT sale_begins_before_it_ends CHECK (begin_time <= end_time),
    CONSTRAINT sale_times_are_finite CHECK (isfinite(begin_time) AND isfinite(end_time))
) WITH (fillfactor = 50);  -- one hot row: leave room for its next versions in the same page

CREATE SEQUENCE IF NOT EXISTS order_number AS bigint;

-- An order's id has the form of the course projects: the seconds since 2022 above 32 bits
-- of a running number.
CREATE OR REPLACE FUNCTION next_order_id() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT ((extract(epoch FROM clock_timestamp())::bigint - 1640995200) << 32)
           | (nextval('order_number') & 4294967295)
$$;

CREATE TABLE IF NOT EXISTS tb_voucher_order (
    id              bigint      PRIMARY KEY DEFAULT next_order_id(),
    user_id         bigint      NOT NULL,
    voucher_id      bigint      NOT NULL,
    pay_type        smallint    NOT NULL DEFAULT 1,
    status          smallint    NOT NULL DEFAULT 1,   -- 1 unpaid
    create_time     timestamptz NOT NULL DEFAULT now(),
    pay_time        timestamptz,
    use_time        timestamptz,
    refund_time     timestamptz,
    update_time     timestamptz NOT NULL DEFAULT now(),
    request_id      text        NOT NULL,
    lock_variant    text        NOT NULL,
    stock_guard     text        NOT NULL,
    duplicate_guard text        NOT NULL,
    process         text        NOT NULL,             -- which service process wrote it
    fence           bigint,                           -- the lock's, where it has one
    -- The instant of this database's clock at which the service checked the sale's window.
    -- An order that was admitted in time may be written later.  NULL: written by a
    -- program that checks no window.
    admitted_at     timestamptz,
    CONSTRAINT orders_one_per_request UNIQUE (user_id, request_id)
);

CREATE INDEX IF NOT EXISTS orders_by_voucher_and_user
    ON tb_voucher_order (voucher_id, user_id);

-- The duplicate guard `unique`: the index binds only rows under it, so that other guards can be
-- shown without it; the function refuses a user who has an order under another guard.
CREATE UNIQUE INDEX IF NOT EXISTS orders_one_per_user
    ON tb_voucher_order (voucher_id, user_id) WHERE duplicate_guard = 'unique';
CREATE OR REPLACE FUNCTION refuse_second_order() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE unique_violation USING CONSTRAINT = 'orders_one_per_user',
        MESSAGE = 'the user has an order of this voucher under another duplicate guard';
END $$;

-- The partition of this database, if the vouchers are spread over several databases.
-- No row: this database has all vouchers.  db/partition.h says how ids name their
-- partition.
CREATE TABLE IF NOT EXISTS tb_partition (
    is_only boolean  PRIMARY KEY DEFAULT true CHECK (is_only),
    number  smallint NOT NULL,
    count   smallint NOT NULL,
    CONSTRAINT partition_is_one_of_count CHECK (0 <= number AND number < count AND count <= 64)
);

-- Make this database the partition `wanted` of `of`, or raise the number of partitions.
-- No voucher is moved: if a voucher's id belongs to another partition, the call is
-- refused.  Ids that are drawn afterwards name the partition.
CREATE OR REPLACE FUNCTION become_partition(wanted integer, of integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_id    CONSTANT bigint := wanted * 1000000000000 + 1;
    last_id     CONSTANT bigint := wanted * 1000000000000 + 999999999999;
    first_order CONSTANT bigint := greatest(wanted::bigint << 25, 1);
    last_order  CONSTANT bigint := ((wanted + 1)::bigint << 25) - 1;
    other       bigint;
    counted     bigint;
BEGIN
    LOCK TABLE tb_partition IN SHARE ROW EXCLUSIVE MODE;
    SELECT number, count INTO other, counted FROM tb_partition;
    IF other <> wanted THEN
        RAISE EXCEPTION 'this database is partition % already', other;
    END IF;
    IF counted > of THEN
        RAISE EXCEPTION 'there are % partitions, and % would leave out vouchers', counted, of
            USING HINT = 'Name all of them in --database-url; their number can only grow.';
    END IF;
    SELECT id INTO other FROM tb_voucher WHERE id NOT BETWEEN first_id AND last_id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'voucher % is here, and its id is not of partition %', other, wanted
            USING HINT = 'A database with vouchers of its own can become partition 0.';
    END IF;
    UPDATE tb_partition SET count = of;
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO tb_partition (number, count) VALUES (wanted, of);
    EXECUTE format('ALTER TABLE tb_voucher ALTER COLUMN id SET MINVALUE %s SET MAXVALUE %s'
                   ' SET START WITH %s %s',
                   first_id, last_id, first_id,
                   CASE WHEN wanted > 0 THEN 'RESTART WITH ' || first_id ELSE '' END);
    SELECT last_value INTO other FROM order_number;
    EXECUTE format('ALTER SEQUENCE order_number MINVALUE %s MAXVALUE %s START WITH %s CYCLE %s',
                   first_order, last_order, first_order,
                   CASE WHEN other BETWEEN first_order AND last_order THEN ''
                        ELSE 'RESTART' END);
END $$;

-- The record of writes: every write to a voucher's row and its result, in the order in
-- which the row decided them.  The checker judges the locks by this record, because no
-- lock influences it.  Services with --record append to it, and can neither read nor
-- change its rows.
--
-- An accepted write is recorded in the order's transaction, and draws its position
-- while that transaction holds the voucher's row.  A refused write draws its position
-- after the refusal, and so after all writes that caused it.  A position without a row
-- belongs to a transaction that was rolled back.
CREATE TABLE IF NOT EXISTS tb_voucher_write (
    position   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    voucher_id bigint      NOT NULL,
    lock_name  text        NOT NULL,
    fence      bigint,                                -- the lock's, where it has one
    request_id text        NOT NULL,
    user_id    bigint      NOT NULL,
    process    text        NOT NULL,
    guard      text        NOT NULL,                  -- the stock guard, or what refused it
    outcome    text        NOT NULL,                  -- accepted, stale, sold-out, ...
    written_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX IF NOT EXISTS writes_by_voucher ON tb_voucher_write (voucher_id, position);

-- The stock that the laboratory issued, kept where the service cannot write.
CREATE SCHEMA IF NOT EXISTS lab;

CREATE TABLE IF NOT EXISTS lab.issue (
    voucher_id   bigint      PRIMARY KEY REFERENCES tb_voucher (id),
    stock        integer     NOT NULL CHECK (stock >= 0),
    issued_at    timestamptz NOT NULL DEFAULT now(),
    begin_time   timestamptz NOT NULL,
    end_time     timestamptz NOT NULL
);

REVOKE ALL ON SCHEMA lab FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO seckill_service;
GRANT SELECT, INSERT ON tb_voucher TO seckill_service;
GRANT SELECT, INSERT, UPDATE ON tb_seckill_voucher TO seckill_service;
GRANT SELECT, INSERT ON tb_voucher_order TO seckill_service;
GRANT INSERT ON tb_voucher_write TO seckill_service;
GRANT USAGE ON SEQUENCE order_number TO seckill_service;
GRANT SELECT ON tb_partition TO seckill_service;
REVOKE EXECUTE ON FUNCTION become_partition FROM PUBLIC;

-- The rights for the pg locks, if their tables exist.
DO $$
BEGIN
    IF to_regclass('dlock_lock') IS NOT NULL THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock, dlock_row, dlock_queue
            TO seckill_service;
    END IF;
    IF to_regclass('dlock_fence_epoch') IS NOT NULL THEN
        GRANT USAGE ON SEQUENCE dlock_fence_epoch TO seckill_service;
    END IF;
END $$;
