-- stream_leave.lua -- remove writers without unsettled orders: this one, and those that have been
-- silent for an hour.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- ARGV[1]  the group of the writers
-- ARGV[2]  this writer
--
-- Returns  the number of orders that are left in the stream
local SILENT_MS = 3600000

local writers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
for _, facts in ipairs(writers.err and {} or writers) do
    local writer = {}
    for i = 1, #facts, 2 do
        writer[facts[i]] = facts[i + 1]
    end
    if writer.pending == 0 and (writer.name == ARGV[2] or writer.idle > SILENT_MS) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], writer.name)
    end
end
return redis.call('XLEN', KEYS[1])
