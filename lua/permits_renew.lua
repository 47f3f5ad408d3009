-- permits_renew.lua -- set a new end of a permit whose end has not passed.
--
-- KEYS[1]  the taken permits, a sorted set: id -> end, ms since 1970
-- ARGV[1]  id of the permit, 32 hex digits
-- ARGV[2]  now, ms since 1970
-- ARGV[3]  lease in ms, above 0
--
-- Returns  1  the permit ends ARGV[3] ms from now
--          0  its end had passed, or the id is not known; nothing was changed
local id = string.gsub(ARGV[1], '%x%x', function(byte)
    return string.char(tonumber(byte, 16))
end)
local ends = tonumber(redis.call('ZSCORE', KEYS[1], id) or -1)
if ends <= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], 'XX', ARGV[2] + ARGV[3], id)
return 1
