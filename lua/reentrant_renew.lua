-- reentrant_renew.lua -- set the end of the lease anew if the owner still holds it.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  lease in ms, above 0 (PEXPIRE with 0 would delete the lock)
-- ARGV[2]  owner, "uuid:number"
--
-- Returns  1  the lease now ends ARGV[1] ms from now
--          0  the owner does not hold it; nothing was changed
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
    return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
