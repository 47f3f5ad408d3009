-- permits_acquire.lua -- take one permit that has an end.
--
-- The keys are Redisson's: the number of free permits, and a sorted set of the taken permits,
-- each an id of 16 raw bytes with the time of its end.  Times are those of the clients' wall
-- clocks, as Redisson's are.  Each call first gives back permits whose end has passed: a step of
-- them, and further steps until a permit is free.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the taken permits, a sorted set: id -> end, ms since 1970
-- KEYS[3]  the channel on which waiters listen
-- ARGV[1]  id of the permit wanted, 32 hex digits, new for every attempt
-- ARGV[2]  now, ms since 1970
-- ARGV[3]  lease in ms, above 0
--
-- Returns  nil     taken; also if the permit was taken before, so that a request that arrives
--                  twice counts once
--          n >= 0  none is free; the next one ends in n ms
--          -1      none is free, and the taken permits have no end
local NEVER = 922337203685477
local id = string.gsub(ARGV[1], '%x%x', function(byte)
    return string.char(tonumber(byte, 16))
end)
if redis.call('ZSCORE', KEYS[2], id) then
    return nil
end
local STEP = 1000 -- Lua passes no more than some thousands of arguments
local free = tonumber(redis.call('GET', KEYS[1]) or 0)
repeat
    local over = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[2], 'LIMIT', 0, STEP)
    if #over > 0 then
        redis.call('ZREM', KEYS[2], unpack(over))
        free = redis.call('INCRBY', KEYS[1], #over)
        if free > 0 then
            redis.pcall('PUBLISH', KEYS[3], free)
        end
    end
until free > 0 or #over < STEP
if free > 0 then
    redis.call('DECR', KEYS[1])
    redis.call('ZADD', KEYS[2], ARGV[2] + ARGV[3], id)
    local ttl = redis.call('PTTL', KEYS[1])
    if ttl > 0 then
        redis.call('PEXPIRE', KEYS[2], ttl)
    end
    return nil
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if not first[2] or tonumber(first[2]) >= NEVER then
    return -1
end
return math.max(0, first[2] - ARGV[2])
