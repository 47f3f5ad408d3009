-- rwlock_read_acquire.lua -- take Redisson's read/write lock, or one more level of it,
-- as a reader.
--
-- The lock is a hash: `mode` is "read" or "write"; a reader's field is the owner and
-- the writer's is the owner and ":write"; the value of a field is the number of levels.
-- Each level of a reader has a key of its own, whose expiry is the reader's lease.  So each
-- reader's hold ends by itself, and the hash expires with the last of them.
--
-- Redisson adds one to the count.  Here the caller names the level that it wants, so that a request
-- that arrives twice, or late, counts once.  All levels of an owner have the longest lease that one
-- of them asked for.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the prefix of the owner's level keys: the nth key is this and n
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
-- ARGV[3]  level wanted: 1, or one more than the owner holds as a reader
--
-- Returns  nil    taken, beside other readers, or by the writer itself
--          n >= 0 another owner writes, for n more ms; nothing was changed
--          -1     another owner writes, without a lease; nothing was changed
--          -3     the owner does not hold the levels below; nothing was changed
local mode = redis.call('HGET', KEYS[1], 'mode')
local lease = tonumber(ARGV[1])
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)
local wanted = tonumber(ARGV[3])
if held < wanted - 1 or
    (wanted > 1 and redis.call('EXISTS', KEYS[2] .. wanted - 1) == 0) then
    return -3
end
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[2] .. ':write') == 0 then
    return redis.call('PTTL', KEYS[1])
end
if not mode then
    redis.call('HSET', KEYS[1], 'mode', 'read')
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
for level = 1, wanted do
    if level > held or redis.call('PTTL', KEYS[2] .. level) < lease then
        redis.call('SET', KEYS[2] .. level, 1, 'PX', lease)
    end
end
if redis.call('PTTL', KEYS[1]) < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
end
return nil
