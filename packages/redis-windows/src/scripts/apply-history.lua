--[[ Puts impressions of one device into its history, each at most once, and turns the reservations they answer into
them (the quota window does the same: whichever comes first, and either alone is enough). Guarantee: as apply-window.
KEYS[1] history
KEYS[2] reservations
KEYS[3] meta
ARGV[1] keepMs
ARGV[2] metaTtlMs
ARGV[3] sameMomentMs
ARGV[4..] each: at, receivedAt, isMoment, place, fingerprint, creativeId, record
Reply: a list, for each impression 1 new, 0 repeat, -1 erased, -2 expired ]]
local history, reservations, meta = KEYS[1], KEYS[2], KEYS[3]
local keepMs, metaTtlMs, sameMomentMs = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local NEW, REPEAT = 1, 0
local CREATIVE = 3
local oldest = nowMs() - keepMs
local erasedAt = tonumber(redis.call('HGET', meta, 'erasedAt') or 0)
local held = redis.call('ZRANGE', reservations, 0, -1)

local function isSameMoment(at, creativeId)
  local from, to = '(' .. text(at - sameMomentMs), '(' .. text(at + sameMomentMs)
  for _, near in ipairs(redis.call('ZRANGEBYSCORE', history, from, to)) do
    if cjson.decode(near)[CREATIVE] == creativeId then return true end
  end
  return false
end

local function count(i)
  local at, isMoment, fingerprint, creativeId = ARGV[i], ARGV[i + 2], ARGV[i + 4], ARGV[i + 5]
  if isMoment == '1' and isSameMoment(tonumber(at), creativeId) then return REPEAT end
  if redis.call('ZADD', history, 'NX', guardScore(at), fingerprint) == 0 then return REPEAT end
  redis.call('ZADD', history, at, ARGV[i + 6])
  return NEW
end

local replies, isWritten, isConverted = {}, false, false
for i = 4, #ARGV, 7 do
  local at, receivedAt, place, fingerprint = ARGV[i], ARGV[i + 1], ARGV[i + 3], ARGV[i + 4]
  local reply
  if erasedAt >= tonumber(receivedAt) then
    reply = REFUSED.erased
  elseif tonumber(at) < oldest then
    reply = REFUSED.expired
  else
    reply = count(i)
    isWritten = isWritten or reply == NEW
    isConverted = takeReservation(reservations, held, fingerprint, place, tonumber(receivedAt)) or isConverted
  end
  replies[#replies + 1] = reply
end
if isWritten then redis.call('PEXPIRE', history, keepMs) end
if isConverted then raiseVersion(meta, metaTtlMs) end
return replies
