-- rwlock_force.lua -- free a read/write lock, whoever holds it, and send a message to all waiters.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the prefix of all level keys of this lock; after it comes
--          ":<owner>:rwlock_timeout:n"
-- ARGV[1]  the channel that waiters listen on
-- ARGV[2]  the message to publish
--
-- Returns  1  the lock was held
--          0  the lock was free; nothing was changed
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
    for n = 1, tonumber(fields[i + 1]) or 0 do
        redis.call('DEL', KEYS[2] .. ':' .. fields[i] .. ':rwlock_timeout:' .. n)
    end
end
if redis.call('DEL', KEYS[1]) == 0 then
    return 0
end
redis.pcall('PUBLISH', ARGV[1], ARGV[2])
return 1
