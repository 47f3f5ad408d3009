-- permits_count.lua -- count the permits that can be taken, or that are taken.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the taken permits, a sorted set: id -> end, ms since 1970
-- KEYS[3]  the channel on which waiters listen
-- ARGV[1]  now, ms since 1970
-- ARGV[2]  "available" or "acquired"
--
-- Returns  the number, after permits whose end has passed were given back
local over = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[1], 'LIMIT', 0, 1000)
if #over > 0 then
    redis.call('ZREM', KEYS[2], unpack(over))
    local value = redis.call('INCRBY', KEYS[1], #over)
    if value > 0 then
        redis.call('PUBLISH', KEYS[3], value)
    end
end
if ARGV[2] == 'acquired' then
    return redis.call('ZCARD', KEYS[2])
end
return tonumber(redis.call('GET', KEYS[1]) or 0)
