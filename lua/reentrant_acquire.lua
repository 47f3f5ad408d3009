-- reentrant_acquire.lua -- take the lock, or one more level of it, as Redisson's RLock.
--
-- The state is a hash with one field, the owner, whose value is the number of levels that it
-- holds.  Redisson adds one to it.  Here the caller names the level that it wants, so that a request
-- that arrives twice, or late, counts once.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
-- ARGV[3]  level wanted: 1, or one more than the owner holds
--
-- Returns  nil    taken; the lease ends no earlier than ARGV[1] ms from now
--          n >= 0 another owner holds the lock for n more ms; nothing was changed
--          -1     another owner holds the lock without a lease; nothing was changed
--          -3     the owner does not hold the levels below; nothing was changed
local left = redis.call('PTTL', KEYS[1]) -- -2: there is none
local held = left ~= -2 and tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0) or 0
local wanted = tonumber(ARGV[3])
if held == 0 then
    if wanted > 1 then
        return -3
    end
    if left ~= -2 then
        return left
    end
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
if left <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return nil
