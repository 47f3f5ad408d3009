-- token_release.lua -- free the lock if and only if the caller still owns it.
--
-- KEYS[1]  the lock, a string
-- ARGV[1]  token of the caller
--
-- Returns  1  freed
--          0  the lock expired or has another owner; nothing was changed
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
