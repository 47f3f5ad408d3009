-- SPDX-License-Identifier: MIT
-- start_signal.lua -- the start signal: all threads of all wrk processes fire in one moment.
--
-- It is a countdown latch in the lab's Redis, see lock/dlock_primitives.h: each thread
-- that could send its first request counts it down and waits until it opens.  wrk
-- cannot speak to Redis, so this calls the lock library.
--
-- Environment; without the first two there is no start signal:
--   SECKILL_START_SIGNAL  the latch's name
--   SECKILL_LOCK_LIBRARY  libdlock.so
--   SECKILL_REDIS_URL     where the latch is

local ffi = require("ffi")

ffi.cdef [[
typedef struct dlock_primitives dlock_primitives;
int dlock_primitives_open(dlock_primitives **out, const char *url, int timeout_ms);
void dlock_primitives_close(dlock_primitives *prims);
int dlock_latch_count_down(dlock_primitives *prims, const char *name, int64_t *left);
int dlock_latch_wait(dlock_primitives *prims, const char *name, int64_t wait_ms);
const char *dlock_error(void);
]]

local M = {}

local OK, TIMEOUT_MS = 0, 10000
local PATIENCE_MS = 25000 -- a thread that never comes holds up the others no longer
local library, name, prims

-- Reach the latch, long before the start.
function M.load()
    local path = os.getenv("SECKILL_LOCK_LIBRARY") or ""
    name = os.getenv("SECKILL_START_SIGNAL") or ""
    if name == "" or path == "" then return end
    local place = ffi.new("dlock_primitives *[1]")
    library = ffi.load(path)
    if library.dlock_primitives_open(place, os.getenv("SECKILL_REDIS_URL"),
            TIMEOUT_MS) ~= OK then
        io.stderr:write("no start signal: ", ffi.string(library.dlock_error()), "\n")
        return
    end
    prims = place[0]
end

-- Be ready, and wait for the start, or for the laboratory to delete the latch.  False, and
-- the reason if there was a latch: the latch did not open.
function M.wait()
    if prims == nil then return false end
    local fired = library.dlock_latch_count_down(prims, name, nil) == OK and
        library.dlock_latch_wait(prims, name, PATIENCE_MS) == OK
    return fired, not fired and ffi.string(library.dlock_error()) or nil
end

-- After the start, when time no longer matters.
function M.close()
    if prims ~= nil then library.dlock_primitives_close(prims) end
    prims = nil
end

return M
