-- Converts many documents in one process: the file PAGES has a line `NUMBER FORMAT PATH` for each. Writes NUMBER.txt, or
-- NUMBER.problem, into the folder OUT. (pandoc.org, Lua filters: pandoc.read, pandoc.write)
local function write(name, text)
  local file = assert(io.open(os.getenv("OUT") .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end

function Pandoc(_)
  for line in io.lines(os.getenv("PAGES")) do
    local number, format, path = line:match("^(%d+) (%S+) (.*)$")
    local is_read, text = pcall(function()
      local file = assert(io.open(path, "rb"))
      local bytes = file:read("a")
      file:close()
      return pandoc.write(pandoc.read(bytes, format), "plain")
    end)
    write(number .. (is_read and ".txt" or ".problem"), tostring(text))
  end
  return pandoc.Pandoc({})
end
