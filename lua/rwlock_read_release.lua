-- rwlock_read_release.lua -- give back one level of the read/write lock as a reader.
--
-- The caller names the level that it gives back.  So a request that arrives twice, or for a level
-- that was never granted, does not change the levels below it.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the channel on which its waiters listen
-- KEYS[3]  the prefix of all level keys of this lock; after it comes
--          ":<owner>:rwlock_timeout:n"
-- ARGV[1]  owner, "uuid:number"
-- ARGV[2]  level to give back; the levels below it are kept
-- ARGV[3]  the message to publish when the lock becomes free
--
-- Returns  1    free now, and the message was published: the owner was the last live reader
--          0    given back, now or before; the owner or others still hold the lock, until
--               the longest of their leases ends
--          nil  the owner does not read, or the lease of the level had ended
local function key(owner, level)
    return KEYS[3] .. ':' .. owner .. ':rwlock_timeout:' .. level
end
local level = tonumber(ARGV[2])
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
if held == 0 then
    return nil
end
if held < level then
    return 0
end
local was_alive = redis.call('EXISTS', key(ARGV[1], level)) == 1
for over = level, held do
    redis.call('DEL', key(ARGV[1], over))
end
if level > 1 then
    redis.call('HSET', KEYS[1], ARGV[1], level - 1)
else
    redis.call('HDEL', KEYS[1], ARGV[1])
end
if redis.call('HGET', KEYS[1], 'mode') == 'write' then
    return was_alive and 0 or nil
end
local longest = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
    for n = 1, tonumber(fields[i + 1]) or 0 do
        longest = math.max(longest, redis.call('PTTL', key(fields[i], n)))
    end
end
if longest > 0 then
    redis.call('PEXPIRE', KEYS[1], longest)
    return was_alive and 0 or nil
end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', KEYS[2], ARGV[3])
return was_alive and 1 or nil
