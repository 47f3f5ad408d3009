-- permits_release.lua -- give one permit back.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the taken permits, a sorted set: id -> end, ms since 1970
-- KEYS[3]  the channel on which waiters listen
-- ARGV[1]  id of the permit, 32 hex digits
-- ARGV[2]  now, ms since 1970
--
-- Returns  1  the permit was taken and is free now
--          0  its end had passed (and it is free), or the id is not known (and nothing was
--             changed)
local id = string.gsub(ARGV[1], '%x%x', function(byte)
    return string.char(tonumber(byte, 16))
end)
local ends = tonumber(redis.call('ZSCORE', KEYS[2], id) or -1)
if redis.call('ZREM', KEYS[2], id) == 0 then
    return 0
end
local value = redis.call('INCR', KEYS[1])
if value > 0 then
    redis.pcall('PUBLISH', KEYS[3], value)
end
return ends > tonumber(ARGV[2]) and 1 or 0
