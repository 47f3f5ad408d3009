-- semaphore_add.lua -- give permits back, or make more or fewer of them.
--
-- Who gives back is not asked whether it ever took any, and a semaphore that is not
-- there comes to be: so it is in Redisson.  It also publishes numbers of 0 and less,
-- which no waiter can use and Redisson's own trip over; here they are not published.
--
-- KEYS[1]  how many permits there are to take, a number
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  how many more; negative: fewer
--
-- Returns  how many there are to take now; published if above 0
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if value > 0 then
    redis.call('PUBLISH', KEYS[2], value)
end
return value
