-- rights.lua -- name the commands that the user may not send.
--
-- A command is tried as it would be sent, but one that the user may send is not executed.  The
-- names of the locks are not known here, so a key that the user may not touch counts for nothing:
-- only the text of the refusal tells a missing command from a missing key.  A server without
-- redis.acl_check_cmd() (before Redis 7) tells nothing.  A script may not send WATCH, whose
-- refusal is of the command if the user may send GET with this key.
--
-- ARGV[1]  the commands, separated by blanks
--
-- Returns  1      no command is missing
--          error  names the commands that are missing
local WORDS = { -- after the command, 1 unless told; Redis 8 takes no fewer than it needs
    TIME = 0, MULTI = 0, EXEC = 0, UNWATCH = 0, WAIT = 2, EVALSHA = 2, SET = 2, SETNX = 2,
    GETSET = 2, PUBLISH = 2, LPUSH = 2, DECRBY = 2, INCRBY = 2, PEXPIRE = 2, HGET = 2,
    HEXISTS = 2, HDEL = 2, HSET = 3,
    HINCRBY = 3, LINDEX = 2, LRANGE = 3, LREM = 3, RPUSH = 2, ZADD = 3, ZCOUNT = 3, ZRANGE = 3,
    ZRANGEBYSCORE = 3, ZREM = 2, ZSCORE = 2
}
local missing = {}
for command in string.gmatch(redis.acl_check_cmd and ARGV[1] or '', '%S+') do
    local call = {command, 'dlock:rights', '0', '0'}
    for i = #call, (WORDS[command] or 1) + 2, -1 do
        call[i] = nil
    end
    local is_known, is_allowed = pcall(redis.acl_check_cmd, unpack(call))
    if not is_known then
        missing[#missing + 1] = command .. ' (the server has no such command)'
    elseif not is_allowed then
        local is_of_command = WORDS[command] == 0 or command == 'EVALSHA' or command == 'WAIT' or
            command == 'WATCH' and redis.acl_check_cmd('GET', 'dlock:rights')
        local refusal = is_of_command and 'permissions to run' or redis.pcall(unpack(call)).err
        if string.find(refusal, "can't run this command", 1, true) or
            string.find(refusal, 'permissions to run', 1, true) then
            missing[#missing + 1] = command
        end
    end
end
if #missing > 0 then
    return redis.error_reply('NOPERM the user has no right to ' .. table.concat(missing, ' '))
end
return 1
