-- rwlock_write_release.lua -- give back one level of the read/write lock as the writer.
--
-- If the writer also holds the lock as a reader, it stays a reader after its last level as the
-- writer.  Redisson publishes no message then, so waiting readers sleep on.  Here a message is
-- published.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the channel on which its waiters listen
-- KEYS[3]  the prefix of the owner's level keys as a reader: the nth key is this and n
-- ARGV[1]  owner, "uuid:number"; the writer's field is this and ":write"
-- ARGV[2]  level to give back; the levels below it are kept
-- ARGV[3]  lease in ms, above 0
-- ARGV[4]  the message to publish for all waiters
--
-- Returns  n >= 1  no owner writes now, and n - 1 clients received the message
--          0       given back, now or before; levels below it are still held
--          nil     the owner does not write; nothing was changed
local writer = ARGV[1] .. ':write'
local level = tonumber(ARGV[2])
local held = tonumber(redis.call('HGET', KEYS[1], writer) or 0)
if held == 0 then
    return nil
end
if held < level then
    return 0
end
if level > 1 then
    redis.call('HSET', KEYS[1], writer, level - 1)
    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
    end
    return 0
end
local longest = 0
for n = 1, tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) do
    longest = math.max(longest, redis.call('PTTL', KEYS[3] .. n))
end
if longest > 0 then
    redis.call('HDEL', KEYS[1], writer)
    redis.call('HSET', KEYS[1], 'mode', 'read')
    redis.call('PEXPIRE', KEYS[1], longest)
else
    redis.call('DEL', KEYS[1])
end
return 1 + (tonumber(redis.pcall('PUBLISH', KEYS[2], ARGV[4])) or 0)
