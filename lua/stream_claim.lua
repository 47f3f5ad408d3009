-- stream_claim.lua -- note the database in which the orders of a stream become rows.
--
-- KEYS[1]  the note
-- ARGV[1]  the database of the service
--
-- Returns  1 if the stream is of this database; 0 if it is of another
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
