-- reentrant_renew.lua -- set a new end of the lease if the owner still holds the lock.
--
-- The end never becomes earlier.  Otherwise a renewal that was on its way while the owner took a
-- level with a longer lease would shorten that lease.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  lease in ms, above 0 (PEXPIRE with 0 would delete the lock)
-- ARGV[2]  owner, "uuid:number"
--
-- Returns  1  the lease ends no earlier than ARGV[1] ms from now
--          0  the owner does not hold the lock; nothing was changed
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
    return 0
end
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1
