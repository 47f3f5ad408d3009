-- SPDX-License-Identifier: MIT
-- users.lua -- the users of a tokens file, "<user> <token>" per line, read one by one.
--
-- The file is mapped, and a line is read when an order needs its user, so a start takes no longer
-- with a million users.

local ffi = require("ffi")

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
long lseek(int fd, long offset, int whence);
void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
void *memchr(const void *from, int byte, size_t size);
]]

local M = {}

local O_RDONLY, SEEK_END, PROT_READ, MAP_PRIVATE = 0, 2, 1, 2
local NEW_LINE, BLANK = 10, 32
local Users = {}
Users.__index = Users

-- The next place of the byte, from `from` on; nil if there is none before `to`.
local function find(text, byte, from, to)
    local at = ffi.C.memchr(text + from, byte, to - from)
    if at == nil then return nil end
    return tonumber(ffi.cast("const char *", at) - text)
end

-- The place of the first line that does not begin before `place`.
local function line_from(text, place, size)
    if place == 0 then return 0 end
    local line_end = find(text, NEW_LINE, place - 1, size)
    return line_end and line_end + 1 or size
end

-- The users of one of so many parts of the file, from 1; nil: the file cannot be read.
function M.open(path, part, parts)
    local fd = ffi.C.open(path, O_RDONLY)
    local size = fd >= 0 and tonumber(ffi.C.lseek(fd, 0, SEEK_END)) or 0
    local address = fd >= 0 and ffi.C.mmap(nil, math.max(size, 1), PROT_READ, MAP_PRIVATE, fd, 0)
    if fd >= 0 then ffi.C.close(fd) end
    if not address or ffi.cast("intptr_t", address) == -1 then return nil end
    local text = ffi.cast("const char *", address)
    local first = line_from(text, math.floor(size * (part - 1) / parts), size)
    local behind = line_from(text, math.floor(size * part / parts), size)
    return setmetatable({ text = text, first = first, place = first, behind = behind }, Users)
end

-- The user and the token of the line at a place, and the place of the next line.  No user: the
-- line has none.
function Users:at(place)
    local line_end = find(self.text, NEW_LINE, place, self.behind) or self.behind
    local blank = find(self.text, BLANK, place, line_end)
    if not blank then return nil, nil, line_end + 1 end
    return tonumber(ffi.string(self.text + place, blank - place)),
        ffi.string(self.text + blank + 1, line_end - blank - 1), line_end + 1
end

-- The next user, the token, and the place of its line; nil: there is none.
function Users:next()
    while self.place < self.behind do
        local place = self.place
        local user, token, next_place = self:at(place)
        self.place = next_place
        if user then return user, token, place end
    end
    return nil
end

-- Begin with the first user again.
function Users:rewind() self.place = self.first end

-- The number of lines.
function Users:count()
    local count, place = 0, self.first
    while place < self.behind do
        count = count + 1
        place = (find(self.text, NEW_LINE, place, self.behind) or self.behind) + 1
    end
    return count
end

return M
