-- SPDX-License-Identifier: MIT
-- control.lua -- a page of memory that the laboratory shares with the wrk threads.
--
-- The page has 64-bit numbers.  The laboratory writes three of them:
--   [0]  not zero: send no more requests, and wait for the answers
--   [1]  the era, which grows by 1 when the laboratory starts a new count
--   [2]  the user whose lock is the target; 0: every request is for the target
-- Thread i (from 1) writes [16 * i + k]:
--   k = 0 requests sent, 1 answered, 2 accepted or queued, 3 sold out, 4 any other answer
--   5  the time of its first request, in ns of CLOCK_BOOTTIME
--   6  not zero: the thread had waited for the start signal
--   7  requests for the target that were sent in the era of number 8, and to which the sale or
--      the lock answered in that era; an error, such as "unavailable", is no such answer
--   9  answers that a late write was refused; number 4 counts them too
--   10 not zero: the thread's users have run out
-- [1024 + 192 * (i - 1) + k] counts the orders of number 2 of thread i by how long they took:
-- k is below 16 as many us, and above that there are eight buckets for each doubling.
-- loadtest/sale/control.h has the same layout.

local ffi = require("ffi")

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
]]

local M = {}

local O_RDWR, PROT_READ_WRITE, MAP_SHARED, SIZE = 2, 3, 1, 57344
-- Reading a 64-bit number makes an object, which costs more than everything else that an
-- order does here, so a thread keeps its own numbers, and reads the low half of the others'.
local page, low, base, latency
local BUCKETS, THREADS = 192, 32
local counts = { [2] = 0, [3] = 0, [4] = 0 }
local took, stale = {}, 0

function M.open(path, thread_id)
    if not path or path == "" then return end
    local fd = ffi.C.open(path, O_RDWR)
    if fd < 0 then error("cannot open " .. path) end
    local address = ffi.C.mmap(nil, SIZE, PROT_READ_WRITE, MAP_SHARED, fd, 0)
    ffi.C.close(fd)
    if ffi.cast("intptr_t", address) == -1 then error("cannot map " .. path) end
    page = ffi.cast("volatile int64_t *", address)
    low = ffi.cast("volatile int32_t *", address)
    base = 16 * thread_id
    if thread_id <= THREADS then latency = 1024 + BUCKETS * (thread_id - 1) end
end

function M.stopped() return base and low[0] ~= 0 end

function M.set_fired(us, by_signal)
    if not base then return end
    page[base + 6] = by_signal and 1 or 0
    page[base + 5] = us * 1000
end

function M.set_sent(n)
    if base then page[base] = n end
end

function M.set_answered(n, outcome)
    if not base then return end
    local k = (outcome == "accepted" or outcome == "queued") and 2 or outcome == "sold-out" and 3 or 4
    counts[k] = counts[k] + 1
    page[base + k] = counts[k]
    if outcome == "stale" then
        stale = stale + 1
        page[base + 9] = stale
    end
    page[base + 1] = n
end

-- From here on a connection of the thread rests, or a user who may have an order orders again.
function M.set_ran_out()
    if base then page[base + 10] = 1 end
end

-- An order was accepted or queued after so many microseconds.
function M.set_latency(us)
    if latency == nil then return end
    local k = 0
    while us >= 16 do us, k = us / 2, k + 8 end
    k = math.min(k + math.floor(math.max(us, 0)), BUCKETS - 1)
    took[k] = (took[k] or 0) + 1
    page[latency + k] = took[k]
end

-- The user whose lock is the target; nil if there is none.
function M.target()
    if not base or page[2] == 0 then return nil end
    return tonumber(page[2])
end

-- The era, if a request of that user's is for the target; otherwise nil.
function M.era_of(user)
    if not base or page[2] ~= 0 and page[2] ~= user then return nil end
    return tonumber(page[1])
end

-- Answers of the sale or the lock.  After any other answer nobody may have asked the lock.
local TRIES = {
    ["accepted"] = true, ["queued"] = true, ["sold-out"] = true, ["duplicate"] = true,
    ["lock-busy"] = true, ["stale"] = true,
}

-- A request for the target that was sent in that era was answered.
function M.set_tried(era, outcome)
    if not base or page[1] ~= era or not TRIES[outcome] then return end
    if page[base + 8] ~= era then
        page[base + 7] = 0
        page[base + 8] = era
    end
    page[base + 7] = page[base + 7] + 1
end

return M
