--[[ Forgets a break: its reservations and its stored pod. Guarantee: a decision that was read before cannot commit
after; where there is nothing, nothing is written.
KEYS[1] meta
KEYS[2] reservations
KEYS[3] pod
ARGV[1] breakKey
ARGV[2] metaTtlMs
Reply: the number of reservations that were removed ]]
local meta, reservations, pod = KEYS[1], KEYS[2], KEYS[3]
local breakKey, metaTtlMs = ARGV[1], ARGV[2]

local removed = {}
for _, member in ipairs(redis.call('ZRANGE', reservations, 0, -1)) do
  if breakKeyOf(member) == breakKey then removed[#removed + 1] = member end
end
if #removed > 0 then redis.call('ZREM', reservations, unpack(removed)) end
local forgotten = redis.call('DEL', pod)
if #removed + forgotten > 0 then raiseVersion(meta, metaTtlMs) end
return #removed
