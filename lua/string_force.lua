-- string_force.lua -- free a lock that is a string, whoever holds it.
--
-- A key of another type is an error.
--
-- KEYS[1]  the lock
--
-- Returns  1  the lock was held
--          0  the lock was free; nothing was changed
return redis.call('GET', KEYS[1]) and redis.call('DEL', KEYS[1]) or 0
