-- semaphore_acquire.lua -- take permits that nobody in particular holds.
--
-- KEYS[1]  how many permits there are to take, a number
-- ARGV[1]  how many to take, above 0
--
-- Returns  1  taken
--          0  there are too few; nothing was changed
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then
    return 0
end
redis.call('DECRBY', KEYS[1], ARGV[1])
return 1
