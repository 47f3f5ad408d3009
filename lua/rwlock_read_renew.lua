-- rwlock_read_renew.lua -- set a new end of a reader's lease if it still holds the lock.
--
-- Only the owner's own level keys are changed, so a renewal does not prolong the hold of a dead
-- reader (Redisson does the same since 4.4.0).
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the prefix of the owner's level keys
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
--
-- Returns  1  the lease ends no earlier than ARGV[1] ms from now
--          0  the owner does not read; nothing was changed
local renewed = 0
for level = 1, tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0) do
    local left = redis.call('PTTL', KEYS[2] .. level)
    if left ~= -2 then
        renewed = 1
    end
    if left <= tonumber(ARGV[1]) then
        redis.call('PEXPIRE', KEYS[2] .. level, ARGV[1])
    end
end
if renewed == 1 and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return renewed
