-- rwlock_write_renew.lua -- set a new end of the writer's lease if it still holds the lock.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number:write"
--
-- Returns  1  the lease ends no earlier than ARGV[1] ms from now; a hold of the writer as
--             a reader may last longer
--          0  the owner does not write; nothing was changed
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
    return 0
end
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 1
