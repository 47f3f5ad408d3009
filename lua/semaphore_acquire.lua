-- semaphore_acquire.lua -- take permits, which have no owner.
--
-- KEYS[1]  the number of permits that can be taken
-- ARGV[1]  how many to take, above 0
--
-- Returns  1  taken
--          0  there are too few permits; nothing was changed
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then
    return 0
end
redis.call('DECRBY', KEYS[1], ARGV[1])
return 1
