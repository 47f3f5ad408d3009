-- rwlock_read_renew.lua -- set the end of a reader's lease anew if it still holds.
--
-- Only the owner's own level keys are touched, so nobody keeps alive what a dead reader
-- held (Redisson since 4.4.0).
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  what the owner's level keys begin with
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
