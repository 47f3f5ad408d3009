-- rwlock_write_acquire.lua -- take Redisson's read/write lock, or one more level of it,
-- as the writer.  rwlock_read_acquire.lua describes the keys.
--
-- A reader cannot become the writer, because two readers that tried would wait for each other.
-- Redisson adds the lease of a further level to the time that is left.  Here the lease is set, and
-- never becomes shorter.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number:write"
-- ARGV[3]  level wanted: 1, or one more than the owner holds as the writer
--
-- Returns  nil    taken; no other owner holds the lock
--          n >= 0 readers, or another writer, hold the lock for n more ms; nothing was changed
--          -1     the same without an end
--          -3     the owner does not hold the levels below; nothing was changed
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)
local wanted = tonumber(ARGV[3])
if held < wanted - 1 then
    return -3
end
if held == 0 and redis.call('EXISTS', KEYS[1]) == 1 then
    return redis.call('PTTL', KEYS[1])
end
if held == 0 then
    redis.call('HSET', KEYS[1], 'mode', 'write')
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
if held == 0 or redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return nil
