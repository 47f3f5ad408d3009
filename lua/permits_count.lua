-- permits_count.lua -- count the permits that can be taken, or that are taken.  Changes nothing.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the taken permits, a sorted set: id -> end, ms since 1970
-- ARGV[1]  now, ms since 1970
-- ARGV[2]  "available" or "acquired"
--
-- Returns  the number; a permit whose end has passed counts as one that can be taken
local over = redis.call('ZCOUNT', KEYS[2], 0, ARGV[1])
if ARGV[2] == 'acquired' then
    return redis.call('ZCARD', KEYS[2]) - over
end
return tonumber(redis.call('GET', KEYS[1]) or 0) + over
