-- semaphore_set.lua -- make a semaphore, or one of permits that expire, if there is
-- none.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  permits, above 0
--
-- Returns  1  made, and the number was published
--          0  the semaphore exists already; nothing was changed
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then
    return 0
end
redis.pcall('PUBLISH', KEYS[2], ARGV[1])
return 1
