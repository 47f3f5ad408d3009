-- semaphore_add.lua -- give permits back, or make more or fewer of them.
--
-- As in Redisson, the script does not check that the caller has taken permits, and a semaphore that
-- does not exist is made.  Redisson also publishes numbers of 0 and less, which no waiter can use and
-- on which Redisson's own waiters fail; here they are not published.
--
-- KEYS[1]  the number of permits that can be taken
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  how many more; negative: fewer
--
-- Returns  the number of permits that can be taken now; it was published if above 0
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if value > 0 then
    redis.pcall('PUBLISH', KEYS[2], value)
end
return value
