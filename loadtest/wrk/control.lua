-- SPDX-License-Identifier: MIT
-- control.lua -- a page of memory that the laboratory shares with the wrk threads.
--
-- 64-bit numbers.  [0] is written by the laboratory: not zero means "send no more, wait
-- for the answers".  Thread i (from 1) writes [8 * i + k]: k = 0 sent, 1 answered, 2
-- accepted, 3 sold out, 4 answered anything else, 5 when it sent its first request, in
-- ns of the monotonic clock, 6 whether it had waited for the starting gun.
-- loadtest/control.h has the same layout.

local ffi = require("ffi")

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
]]

local M = {}

local O_RDWR, PROT_READ_WRITE, MAP_SHARED, SIZE = 2, 3, 1, 4096
local page, base

function M.open(path, thread_id)
    if not path or path == "" then return end
    local fd = ffi.C.open(path, O_RDWR)
    if fd < 0 then error("cannot open " .. path) end
    local address = ffi.C.mmap(nil, SIZE, PROT_READ_WRITE, MAP_SHARED, fd, 0)
    ffi.C.close(fd)
    if ffi.cast("intptr_t", address) == -1 then error("cannot map " .. path) end
    page = ffi.cast("volatile int64_t *", address)
    base = 8 * thread_id
end

function M.stopped() return page ~= nil and page[0] ~= 0 end

function M.set_fired(us, by_gun)
    if page == nil then return end
    page[base + 6] = by_gun and 1 or 0
    page[base + 5] = us * 1000
end

function M.set_sent(n)
    if page ~= nil then page[base] = n end
end

function M.set_answered(n, outcome)
    if page == nil then return end
    local k = outcome == "accepted" and 2 or outcome == "sold-out" and 3 or 4
    page[base + k] = page[base + k] + 1
    page[base + 1] = n
end

return M
