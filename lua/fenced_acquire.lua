-- fenced_acquire.lua -- take the lock as reentrant_acquire.lua does, and a fence with it.
--
-- The fence counts the holders that the lock has had.  Redisson counts re-entries too;
-- here they keep the fence of their hold, so that what a holder wrote under the outer
-- level is not older than what it writes under the inner one, and the same request
-- arriving twice counts once.  Either way it grows with every new holder, so both may
-- share a counter.  The counter has no end: one that began anew would repeat itself.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the counter, a string
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
-- ARGV[3]  level wanted: 1, or one more than the owner holds
--
-- Returns  text   taken, and this is the fence; the lease ends no earlier than ARGV[1]
--                 ms from now
--          n >= 0 somebody else's for n more ms; nothing was changed
--          -1     somebody else's, without an end; nothing was changed
--          -3     the owner does not hold the levels below; nothing was changed
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)
local wanted = tonumber(ARGV[3])
if held == 0 then
    if wanted > 1 then
        return -3
    end
    if redis.call('EXISTS', KEYS[1]) == 1 then
        return redis.call('PTTL', KEYS[1])
    end
    redis.call('INCR', KEYS[2])
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return redis.call('GET', KEYS[2]) or tostring(redis.call('INCR', KEYS[2]))
