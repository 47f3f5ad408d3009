-- permits_renew.lua -- set the end of one permit anew if it is not over.
--
-- KEYS[1]  those taken, a sorted set: id -> end, ms since 1970
-- ARGV[1]  id of the permit, 32 hex digits
-- ARGV[2]  now, ms since 1970
-- ARGV[3]  lease in ms, above 0
--
-- Returns  1  it now ends ARGV[3] ms from now
--          0  it was over, or is not known; nothing was changed
local id = string.gsub(ARGV[1], '%x%x', function(byte)
    return string.char(tonumber(byte, 16))
end)
local ends = tonumber(redis.call('ZSCORE', KEYS[1], id) or -1)
if ends <= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], 'XX', ARGV[2] + ARGV[3], id)
return 1
