-- token_renew.lua -- set a new end of the lease if the caller still owns the lock.
--
-- KEYS[1]  the lock, a string
-- ARGV[1]  token of the caller
-- ARGV[2]  lease in ms from now, above 0 (PEXPIRE with 0 would delete the lock)
--
-- Returns  1  the lease now ends ARGV[2] ms from now
--          0  the lock expired or has another owner; nothing was changed
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
