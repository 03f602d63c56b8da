/**
 * The six scripts. A row is three doubles: `used`, `ts`, and the instant, by the clock of Redis, until
 * which the row has to stay. A row that is held has two more parts: the instant until which it is held,
 * and its holder. A row that has to stay until 0 does not exist, and is only held.
 *
 * Every reply is one line of text: the two numbers of TIME, and then the words of the script. The take of
 * one row leaves TIME out. Doubles are written as `%.17g`, which loses no bit. `tostring` of Lua would
 * keep 14 digits.
 */

/**
 * How long a row stays after the row is full, ms: the clock of a replica that takes over may be ahead.
 */
export const KEEP = 60_000;
/** How long the reply to a mark is kept, ms. */
const KEEP_REPLY = 30_000;
/**
 * The sign before the place of an index's keys. The word stands where other rows have the time to stay.
 */
export const INDEXED = "@";
/**
 * An instant a little below the largest that Redis takes. A row that has to stay so long gets no expiry.
 */
const LAST_INSTANT = 9e15;

/** The value of `over` that is no bound. */
const ANY_USE = "-1e300";

/** Functions are local, because the lookup of a global takes longer than the call. */
const CLOCK = `
local call, pack, split, format, max, ceil = redis.call, struct.pack, struct.unpack, string.format, math.max, math.ceil
local time = call('TIME')
local clock = time[1] * 1000.0 + time[2] / 1000
`;

const HEAD = `${CLOCK}
local stamp = time[1] .. ' ' .. time[2]
local reply = {stamp}
`;

const ROWS = `
local function load(s)
  if not s or #s < 24 then return 0, 0, 0 end
  local used, ts, stays = split('<ddd', s)
  if stays <= clock then stays = 0 end
  if #s > 24 and split('<d', s, 25) > clock then return used, ts, stays, s:sub(33) end
  return used, ts, stays
end
local function save(key, row, stays)
  if stays >= ${LAST_INSTANT} then call('SET', key, row)
  else call('SET', key, row, 'PXAT', format('%d', ceil(stays))) end
end
local rows
if #KEYS <= 4000 then
  rows = call('MGET', unpack(KEYS))
else
  rows = {}
  for from = 1, #KEYS, 4000 do
    local part = call('MGET', unpack(KEYS, from, math.min(from + 3999, #KEYS)))
    for i = 1, #part do rows[from + i - 1] = part[i] end
  end
end
`;

/** ARGV: the deadline, and the mark. The last key is the key of the mark. */
const ONCE = `
local mark = ARGV[2]
local count = #KEYS
if mark ~= '' then
  local said = rows[count]
  count = count - 1
  if said and said:sub(1, #mark) == mark then return said:sub(#mark + 1) end
end
if clock > tonumber(ARGV[1]) then return stamp .. ' late' end
`;

const ANSWER = `
local text = table.concat(reply, ' ')
if mark ~= '' then call('SET', KEYS[#KEYS], mark .. text, 'PX', '${KEEP_REPLY}') end
return text
`;

/**
 * Takes from the row `s` of `key`, and sets `isTaken` if the row had the tokens. The row then holds
 * `used` and `ts`. A new row begins with `fresh` as its `ts`. `own` is the most that can be used of
 * `capacity` alone. A row with more than `own` was written under a larger capacity. A take that goes
 * above `own` writes a debt.
 *
 * Nothing is taken from a row that has used less than `over`, nor from one whose next window has begun
 * where there is an `over`. Nothing is taken from a row that a denial has closed, nor from a row of a
 * larger config: `core` decides such rows.
 *
 * Keep the order of operations of `takeTokens` in `core`.
 */
const TAKE_ROW = `
  local used, ts, stays, isOpen = 0.0, 0.0, 0.0, true
  if s and #s >= 24 then
    used, ts, stays = split('<ddd', s)
    isOpen = #s == 24 or split('<d', s, 25) <= clock
  end
  if stays <= clock then
    used, ts, stays = least, fresh, 0.0
  else
    if used < 0 then
      used = capacity - used
    elseif used > own then
      isOpen = false
    end
    local elapsed = now - ts
    if elapsed < 0 then elapsed = 0.0 end
    if isWindow then
      local windows = math.floor(elapsed / period)
      if windows > 0 and over > ${ANY_USE} then isOpen = false end
      used, ts = used - windows * rate, ts + windows * period
    else
      used = used - elapsed * rate / period
      if now > ts then ts = now end
    end
    if used < over then isOpen = false end
    if used < least then used = least end
  end
  used = used + total
  local isTaken = used <= most and isOpen
  if isTaken then
    local periods = used / rate
    if isWindow then periods = ceil(periods) end
    if used > own then used = capacity - used end
    local needed = clock + max(0, ts - now + periods * period) + ${KEEP}
    if needed <= stays and #s == 24 then
      call('SETRANGE', key, 0, pack('<dd', used, ts))
    else
      stays = max(stays, needed + ${KEEP})
      local row = pack('<ddd', used, ts, stays)
      if stays >= ${LAST_INSTANT} then call('SET', key, row)
      else call('SET', key, row, 'PXAT', format('%d', ceil(stays))) end
    end
  end
`;

/** The state of a row after a take. A `ts` that equals `fresh`, the `ts` of a new row, is left out. */
const TAKEN = `ts == fresh and format('%.17g', used) or format('%.17g/%.17g', used, ts)`;

/**
 * ARGV, after the mark: the time of the decision; the number of terms; the total of all lines, or
 * nothing; eight numbers for each of the terms; and for each line the place of its terms, its total and
 * the `ts` of a new row. If all lines share the terms and the total, a line has only this `ts` for
 * windows, and nothing for buckets.
 */
const TAKE = `${HEAD}
local rows = call('MGET', unpack(KEYS))
${ONCE}
local now, kinds, shared = ARGV[3] + 0.0, tonumber(ARGV[4]), tonumber(ARGV[5])
local terms = {}
for i = 1, kinds do
  local from = 8 * i - 2
  terms[i] = {ARGV[from] == '1'}
  for j = 2, 8 do terms[i][j] = ARGV[from + j - 1] + 0.0 end
end
local at = 8 * kinds + 6
local isWindow, rate, period, capacity, own, most, least, over = unpack(terms[1])
local total, fresh = shared and shared + 0.0, now
for i = 1, count do
  if not shared then
    isWindow, rate, period, capacity, own, most, least, over = unpack(terms[ARGV[at] + 1])
    total, fresh, at = ARGV[at + 1] + 0.0, ARGV[at + 2] + 0.0, at + 3
  elseif isWindow then
    fresh, at = ARGV[at] + 0.0, at + 1
  end
  local s, key = rows[i], KEYS[i]
  ${TAKE_ROW}
  reply[i + 1] = isTaken and (${TAKEN}) or '-'
end
${ANSWER}`;

/**
 * The take of one row, with as few words as possible. KEYS: the row, and the mark if there is one. ARGV:
 * the deadline, which also is the mark; the time of the decision, the total, the rate, the period, `own`;
 * for windows the `ts` of a new row, or nothing; the capacity, the most and the least that may be used, and
 * the least that must be used. Values that are left out at the end have their defaults: no windows, the
 * rate as the capacity, `own` as the most, 0 as the least, and no use that must be. A refused take stores
 * no mark, because it has written nothing.
 */
const TAKE_ONE = `${CLOCK}
local key, deadline = KEYS[1], ARGV[1]
local found = call('MGET', unpack(KEYS))
local s, said = found[1], found[2]
if said and said:sub(1, #deadline) == deadline then return said:sub(#deadline + 1) end
if clock > deadline + 0.0 then return 'late' end
local now, total, rate, period, own = ARGV[2] + 0.0, ARGV[3] + 0.0, ARGV[4] + 0.0, ARGV[5] + 0.0, ARGV[6] + 0.0
local fresh = tonumber(ARGV[7] or '')
local isWindow = fresh ~= nil
if not isWindow then fresh = now end
local capacity, most, least, over = tonumber(ARGV[8] or ARGV[4]), tonumber(ARGV[9] or ARGV[6]), tonumber(ARGV[10] or 0), tonumber(ARGV[11] or ${ANY_USE})
${TAKE_ROW}
if not isTaken then return '-' end
local text = ${TAKEN}
if KEYS[2] then call('SET', KEYS[2], deadline .. text, 'PX', '${KEEP_REPLY}') end
return text
`;

const TELL = `
for i = 1, #KEYS do
  local used, ts, stays, holder = load(rows[i])
  if stays == 0 then reply[i + 1] = holder and '!' or '-'
  else reply[i + 1] = format(holder and '%.17g/%.17g!' or '%.17g/%.17g', used, ts) end
end
return table.concat(reply, ' ')
`;

const READ = `${HEAD}${ROWS}${TELL}`;

/**
 * ARGV, after the mark: the holder of the rows, or nothing; for how long to hold the written rows from
 * now, or nothing to free them; and for each group the number of its writes. Each write has five words:
 * the two numbers that must be in the row, the two numbers to write, and for how long they have to stay.
 * A row that does not exist has two empty numbers. The fifth word is empty for a row that stays for ever.
 * For a row with indexes, it is the sign of an index and the place of two keys: of the sorted sets in
 * which the row stands by its \`ts\`.
 */
const WRITE = `${HEAD}${ROWS}${ONCE}
local own, keep, first, at = ARGV[3], tonumber(ARGV[4]), 0, 5
local till = keep and clock + keep or 0
local hold = keep and pack('<d', till) .. own or ''
while at <= #ARGV do
  local size, isSame, seen = tonumber(ARGV[at]), true, {}
  for i = 1, size do
    local from = at + 5 * i - 4
    local used, ts, stays, holder = load(rows[first + i])
    seen[i] = {stays, holder}
    if (holder or '') ~= own then isSame = false
    elseif ARGV[from] == '' then isSame = isSame and stays == 0
    else isSame = isSame and stays > 0 and used == tonumber(ARGV[from]) and ts == tonumber(ARGV[from + 1]) end
  end
  if isSame then
    for i = 1, size do
      local from, key = at + 5 * i - 4, KEYS[first + i]
      local used, ts, lasts = ARGV[from + 2], ARGV[from + 3], ARGV[from + 4]
      local stays, holder = unpack(seen[i])
      local index = lasts:sub(1, 1) == '${INDEXED}' and tonumber(lasts:sub(2))
      if index then
        lasts = ''
        for j = index, index + 1 do
          if used == '' then call('ZREM', KEYS[j], key) else call('ZADD', KEYS[j], ts, key) end
        end
      end
      if used == '' then
        if keep then save(key, pack('<ddd', 0, 0, 0) .. hold, till)
        elseif stays > 0 or holder then call('DEL', key) end
      elseif holder or used ~= ARGV[from] or ts ~= ARGV[from + 1] then
        local until_ = lasts == '' and ${LAST_INSTANT} or clock + tonumber(lasts)
        stays = max(stays, until_)
        save(key, pack('<ddd', tonumber(used), tonumber(ts), stays) .. hold, max(stays, till))
      end
    end
  end
  reply[#reply + 1] = isSame and '1' or '0'
  first, at = first + size, at + 5 * size + 1
end
${ANSWER}`;

/** ARGV: the deadline, the holder of the rows, and for how long to hold. Holds all rows, or none. */
const HOLD = `${HEAD}${ROWS}
if clock > tonumber(ARGV[1]) then return stamp .. ' late' end
for i = 1, #KEYS do
  local _, _, _, holder = load(rows[i])
  if holder and holder ~= ARGV[2] then return stamp .. ' held' end
end
local till = clock + ARGV[3]
for i = 1, #KEYS do
  local used, ts, stays = load(rows[i])
  save(KEYS[i], pack('<dddd', used, ts, stays, till) .. ARGV[2], max(stays, till))
  if stays == 0 then reply[i + 1] = '-'
  else reply[i + 1] = format('%.17g/%.17g', used, ts) end
end
return table.concat(reply, ' ')
`;

/** ARGV: the holder of the rows. */
const RELEASE = `${HEAD}${ROWS}
for i = 1, #KEYS do
  local used, ts, stays, holder = load(rows[i])
  if holder == ARGV[1] then
    if stays == 0 then call('DEL', KEYS[i]) else save(KEYS[i], pack('<ddd', used, ts, stays), stays) end
  end
end
return stamp
`;

export const SCRIPTS = {
  take: TAKE,
  takeOne: TAKE_ONE,
  read: READ,
  write: WRITE,
  hold: HOLD,
  release: RELEASE,
};

export type ScriptName = keyof typeof SCRIPTS;
