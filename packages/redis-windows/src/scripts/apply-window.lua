--[[ Puts impressions of one device into its quota window, each at most once, and turns the reservations they answer
into them. Guarantee: a fingerprint that was counted is never counted again while its impression is kept; a repeat moves
no time; the window has a TTL whenever it exists.
KEYS[1] window
KEYS[2] reservations
KEYS[3] meta
ARGV[1] keepMs
ARGV[2] metaTtlMs
ARGV[3] sameMomentMs
ARGV[4..] each: at, receivedAt, isMoment, place, record
Reply: a list, for each impression 1 new, 0 repeat, -1 erased, -2 expired ]]
local window, reservations, meta = KEYS[1], KEYS[2], KEYS[3]
local keepMs, metaTtlMs, sameMomentMs = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local NEW, REPEAT = 1, 0
local oldest = nowMs() - keepMs
local erasedAt = tonumber(redis.call('HGET', meta, 'erasedAt') or 0)
local held = redis.call('ZRANGE', reservations, 0, -1)

local function fingerprintOf(record) return string.sub(record, 8, 15) end
local function creativeOf(record) return string.sub(record, 16, 21) end

local function isSameMoment(at, record)
  local from, to = '(' .. text(at - sameMomentMs), '(' .. text(at + sameMomentMs)
  for _, near in ipairs(redis.call('ZRANGEBYSCORE', window, from, to)) do
    if creativeOf(near) == creativeOf(record) then return true end
  end
  return false
end

local function count(at, isMoment, record)
  if isMoment == '1' and isSameMoment(tonumber(at), record) then return REPEAT end
  if redis.call('ZADD', window, 'NX', guardScore(at), fingerprintOf(record)) == 0 then return REPEAT end
  redis.call('ZADD', window, at, record)
  return NEW
end

local replies, isWritten, isConverted = {}, false, false
for i = 4, #ARGV, 5 do
  local at, receivedAt, isMoment, place, record = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local reply
  if erasedAt >= tonumber(receivedAt) then
    reply = REFUSED.erased
  elseif tonumber(at) < oldest then
    reply = REFUSED.expired
  else
    reply = count(at, isMoment, record)
    isWritten = isWritten or reply == NEW
    isConverted = takeReservation(reservations, held, fingerprintOf(record), place, tonumber(receivedAt)) or isConverted
  end
  replies[#replies + 1] = reply
end
if isWritten then redis.call('PEXPIRE', window, keepMs) end
if isConverted then raiseVersion(meta, metaTtlMs) end
return replies
