-- trace.db, format 3. This file is the document of the format; docs/TRACE_FORMAT.md explains it.
--
-- PRAGMA application_id = 0x47545243 ('GTRC') marks the file as ours; PRAGMA user_version is the format version.
-- Every `id` counts from 0 without a gap. Every index column is the id of a row of the named table; NULL is "none".
-- Unsigned 64-bit numbers are stored as the signed number with the same bits.
-- `pad` fills a row with zeros so that its size does not depend on how large its counters are: the size of the file
-- of a regular program is the same whatever its iteration count.

CREATE TABLE meta(
  name  TEXT PRIMARY KEY,  -- 'format' (a number), 'writer' (program and version)
  value TEXT NOT NULL
);
CREATE TABLE checks(       -- one row a table: damage is detected when the file is read
  name TEXT PRIMARY KEY,   -- of the table
  rows INTEGER NOT NULL,   -- its number of rows
  hash INTEGER NOT NULL,   -- FNV-1a over its values (pad excepted), row by row
  pad  BLOB
);
CREATE TABLE facts(        -- counters and facts about the recording
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,     -- 'timing', 'calls', 'wall_ns', 'lost.*' (not recorded, and why), 'overhead.*' (ns), ...
  value TEXT NOT NULL,
  pad   BLOB
);
CREATE TABLE processes(
  id          INTEGER PRIMARY KEY,
  pid         INTEGER NOT NULL,
  parent      INTEGER NOT NULL,  -- pid of the process that forked it, 0 for the first
  executable  TEXT NOT NULL,     -- path
  start_ns    INTEGER NOT NULL,  -- since the start of recording
  end_ns      INTEGER NOT NULL,
  exit_code   INTEGER NOT NULL,  -- of the first process; -1 when not known
  exit_signal INTEGER NOT NULL,  -- 0 when no signal ended it
  pad         BLOB
);
CREATE TABLE arguments(          -- the command line of each process
  id      INTEGER PRIMARY KEY,
  process INTEGER NOT NULL,      -- processes
  text    TEXT NOT NULL
);
CREATE TABLE threads(
  id      INTEGER PRIMARY KEY,
  process INTEGER NOT NULL,      -- processes
  tid     INTEGER NOT NULL,
  pad     BLOB
);
CREATE TABLE modules(            -- executables and libraries with calls of ours
  id       INTEGER PRIMARY KEY,
  process  INTEGER NOT NULL,     -- processes
  base     INTEGER NOT NULL,     -- load bias in that process
  end      INTEGER NOT NULL,     -- end of its last segment in that process
  path     TEXT NOT NULL,
  build_id TEXT NOT NULL,        -- hex; '' when the file has none
  pad      BLOB
);
CREATE TABLE sites(              -- places in code that called us
  id     INTEGER PRIMARY KEY,
  module INTEGER,                -- modules
  offset INTEGER NOT NULL,       -- return address minus the module's load bias
  outer  INTEGER                 -- sites: the call around it, where this place alone does not tell its uses apart; since 2
);
CREATE TABLE functions(          -- names of the function numbers that this trace uses
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  transfer TEXT,                 -- 'h2d', 'd2h', 'd2d' for functions that move data: usually so, shapes.moves is exact
  launch   INTEGER NOT NULL      -- 1: launches a kernel
);
CREATE TABLE kinds(              -- kinds of object
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,          -- 'buffer'
  letter TEXT NOT NULL           -- 'b': b0, b1, ... in printed traces
);
CREATE TABLE classes(            -- where objects are born; an object is (class, slot), slot = lowest number free
  id       INTEGER PRIMARY KEY,
  kind     INTEGER NOT NULL,     -- kinds
  thread   INTEGER NOT NULL,     -- threads: which created it
  site     INTEGER,              -- sites: of the creating call
  function INTEGER NOT NULL,     -- functions: the creating call
  label    INTEGER               -- blobs: a kernel's or device's name, a module's path
);
CREATE TABLE shapes(             -- what cannot vary without making a call another call
  id         INTEGER PRIMARY KEY,
  function   INTEGER NOT NULL,   -- functions
  site       INTEGER,            -- sites
  thread     INTEGER NOT NULL,   -- threads
  unfinished INTEGER NOT NULL,   -- 1: the call was entered and never returned
  moves      INTEGER NOT NULL    -- data: 0 nothing, 1 host to device, 2 device to host, 3 inside devices; since 2
);
CREATE TABLE args(               -- the arguments of a shape, in the order of its values
  id       INTEGER PRIMARY KEY,
  shape    INTEGER NOT NULL,     -- shapes
  param    INTEGER NOT NULL,     -- parameter; 0xff00 return value, 0xff01 memory calls since the previous OpenCL
                                 -- call of the thread, 0xff02 an object that is touched or launched without
                                 -- being named, 0xff03 the callback that a call registers or that is called,
                                 -- 0x8000 + i an object bound to the launched kernel's argument i
  form     INTEGER NOT NULL,     -- 0 NULL, 1 Int, 2 Object (slot), 3 Memory (slot, offset), 4 Blob (blobs),
                                 -- 5 Code (sites), 6 Raw, 7 empty list. Memory takes two values, 0 and 7 none, others one
  effect   INTEGER NOT NULL,     -- on the object: 0 none, 1 use, 2 def, 3 use and def, 4 release
  class    INTEGER               -- classes: forms 2 and 3 only
);
CREATE TABLE streams(            -- one of OpenCL calls and one of memory calls per thread
  id     INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,       -- threads
  memory INTEGER NOT NULL,       -- 1: allocation calls
  timeline BLOB NOT NULL         -- when each call was (gtrace run --timeline), else empty; since 2
);
CREATE TABLE nodes(              -- the folded calls: a tree per stream, in pre-order
  id      INTEGER PRIMARY KEY,
  stream  INTEGER NOT NULL,      -- streams
  parent  INTEGER,               -- nodes: the loop around it
  ordinal INTEGER NOT NULL,      -- position among its siblings
  kind    INTEGER NOT NULL,      -- 0 call, 1 loop, 2 run (calls that did not fold), 3 summary (calls left out)
  shape   INTEGER,               -- shapes: calls only
  count   INTEGER,               -- loop: trip count, NULL when it varies (then in `series`); run: number of calls
  series  BLOB NOT NULL,         -- call: one series a value; loop whose count varies: the count's series
  run     BLOB NOT NULL,         -- run: its calls as compressed columns
  pad     BLOB
);
CREATE TABLE blobs(              -- strings, kernel sources, argument bytes, query results
  id        INTEGER PRIMARY KEY,
  full_size INTEGER NOT NULL,    -- of what was seen; larger than `size` when it was cut
  size      INTEGER NOT NULL,    -- of what is kept
  packed    INTEGER NOT NULL,    -- 1: `bytes` is a zstd frame
  bytes     BLOB NOT NULL
);
CREATE TABLE stats(              -- what the calls of a shape cost. _ns: nanoseconds; _histogram: see TRACE_FORMAT.md
  shape            INTEGER PRIMARY KEY,  -- shapes
  calls            INTEGER NOT NULL,
  failed           INTEGER NOT NULL,     -- an OpenCL error, or NULL from an allocation
  host_count       INTEGER NOT NULL,     -- host time of the calls; memory calls are not timed
  host_ns          INTEGER NOT NULL,
  host_min_ns      INTEGER NOT NULL,
  host_max_ns      INTEGER NOT NULL,
  host_histogram   BLOB NOT NULL,
  device_count     INTEGER NOT NULL,     -- START to END of the commands: timed ones, and those that they stand for
  device_ns        INTEGER NOT NULL,
  device_min_ns    INTEGER NOT NULL,
  device_max_ns    INTEGER NOT NULL,
  device_histogram BLOB NOT NULL,
  bytes_count      INTEGER NOT NULL,     -- transfers, allocations, buffers over host memory
  bytes            INTEGER NOT NULL,
  bytes_min        INTEGER NOT NULL,
  bytes_max        INTEGER NOT NULL,
  bytes_histogram  BLOB NOT NULL,
  first_host_ns    INTEGER NOT NULL,     -- the first call alone: warm-up
  first_device_ns  INTEGER NOT NULL,
  insane           INTEGER NOT NULL,     -- device timestamps that made no sense, left out above
  pad              BLOB,
  timed            INTEGER NOT NULL      -- timestamps behind device_*: fewer than device_count when it is estimated; since 2
);
CREATE TABLE devices(            -- unions of intervals on each device's clock
  id                INTEGER PRIMARY KEY,
  name              TEXT NOT NULL,
  kernel_ns         INTEGER NOT NULL,
  transfer_ns       INTEGER NOT NULL,
  h2d_ns            INTEGER NOT NULL,
  d2h_ns            INTEGER NOT NULL,
  overlap_ns        INTEGER NOT NULL,  -- kernels and transfers at once
  kernels           INTEGER NOT NULL,  -- timed commands
  transfers         INTEGER NOT NULL,
  untimed_kernels   INTEGER NOT NULL,
  untimed_transfers INTEGER NOT NULL,
  pad               BLOB,
  estimated_kernels   INTEGER NOT NULL,  -- not timed, but in the sums: timed ones stand for them; since 2
  estimated_transfers INTEGER NOT NULL,
  steady_kernel_ns    INTEGER NOT NULL,  -- the unions without the first timed command of each shape: steady state; since 3
  steady_transfer_ns  INTEGER NOT NULL,
  steady_overlap_ns   INTEGER NOT NULL
);
CREATE TABLE object_times(       -- the same for each queue, and for each context on a device; since 3
  id                  INTEGER PRIMARY KEY,
  class               INTEGER NOT NULL,  -- classes: of a queue or context...
  slot                INTEGER NOT NULL,  -- ...and its slot
  device              INTEGER NOT NULL,  -- devices
  kernel_ns           INTEGER NOT NULL,
  transfer_ns         INTEGER NOT NULL,
  h2d_ns              INTEGER NOT NULL,
  d2h_ns              INTEGER NOT NULL,
  overlap_ns          INTEGER NOT NULL,
  kernels             INTEGER NOT NULL,
  transfers           INTEGER NOT NULL,
  estimated_kernels   INTEGER NOT NULL,
  estimated_transfers INTEGER NOT NULL,
  untimed_kernels     INTEGER NOT NULL,
  untimed_transfers   INTEGER NOT NULL,
  steady_kernel_ns    INTEGER NOT NULL,
  steady_transfer_ns  INTEGER NOT NULL,
  steady_overlap_ns   INTEGER NOT NULL,
  pad                 BLOB
);
CREATE TABLE kernels(            -- what is known of the code of a kernel class
  id      INTEGER PRIMARY KEY,
  class   INTEGER NOT NULL,      -- classes
  name    TEXT NOT NULL,
  source  INTEGER,               -- blobs: concatenated program source
  options INTEGER                -- blobs: build options
);

-- "app+0x1234" for every site.
CREATE VIEW site_names AS
  WITH RECURSIVE
  place(site, next, text) AS (
    SELECT s.id, s."outer", coalesce(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), ''), '?') ||
             printf('+0x%x', s.offset)
    FROM sites s LEFT JOIN modules m ON m.id = s.module),
  chain(site, next, text) AS (
    SELECT site, next, text FROM place
    UNION ALL SELECT c.site, p.next, c.text || ' < ' || p.text FROM chain c JOIN place p ON p.site = c.next)
  SELECT site, text FROM chain WHERE next IS NULL;

-- Which calls take the time?
CREATE VIEW calls_by_time AS
  SELECT f.name AS function, n.text AS site, h.thread, t.calls, t.failed, t.host_ns / 1e6 AS host_ms,
         t.host_ns / 1e3 / max(t.host_count, 1) AS avg_us, t.device_ns / 1e6 AS device_ms
  FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
       LEFT JOIN site_names n ON n.site = h.site
  ORDER BY t.host_ns DESC;

-- Transfers by direction and size class: size_from <= average bytes of the call < 2 * size_from.
CREATE VIEW transfers AS
  WITH RECURSIVE power(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM power WHERE n < 1 << 46),
  moved AS (SELECT CASE h.moves WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' ELSE 'd2d' END AS direction,
                   t.bytes / max(t.bytes_count, 1) AS size, t.calls, t.bytes,
                   CASE WHEN t.device_count THEN t.device_ns ELSE t.host_ns END AS ns
            FROM stats t JOIN shapes h ON h.id = t.shape
            WHERE h.moves)
  SELECT direction, n AS size_from, sum(calls) AS count, sum(bytes) AS bytes, sum(ns) / 1e6 AS ms,
         sum(bytes) * 1.0 / max(sum(ns), 1) AS gb_per_s
  FROM moved JOIN power ON max(size, 1) >= n AND max(size, 1) < n * 2
  GROUP BY direction, n ORDER BY direction, n;

-- Kernels: launches and device time.
CREATE VIEW kernel_time AS
  SELECT k.name, sum(t.calls) AS launches, sum(t.device_ns) / 1e6 AS device_ms,
         sum(t.device_ns) / 1e3 / max(sum(t.device_count), 1) AS avg_us
  FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
       JOIN args a ON a.shape = t.shape AND a.form = 2 AND (f.launch OR a.param = 0xff02) JOIN kernels k ON k.class = a.class
  GROUP BY k.name ORDER BY device_ms DESC;

-- Allocations by place.
CREATE VIEW allocations AS
  SELECT n.text AS site, f.name AS function, sum(t.calls) AS calls, sum(t.bytes) AS bytes
  FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
       LEFT JOIN site_names n ON n.site = h.site
  WHERE f.id >= 0x8000 AND t.bytes_count > 0
  GROUP BY h.site, f.id ORDER BY bytes DESC;

-- The transfers that take the most time, with the allocation whose memory they move.
CREATE VIEW transfer_sources AS
  SELECT f.name AS function, n.text AS site,
         CASE h.moves WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' ELSE 'd2d' END AS direction, t.calls, t.bytes,
         (CASE WHEN t.device_count THEN t.device_ns ELSE t.host_ns END) / 1e6 AS ms,
         k.name AS memory, g.name AS allocated_by, an.text AS allocated_at
  FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
       LEFT JOIN site_names n ON n.site = h.site
       LEFT JOIN args a ON a.shape = t.shape AND a.form = 3 AND a.param <> 0xff02
       LEFT JOIN classes c ON c.id = a.class LEFT JOIN kinds k ON k.id = c.kind
       LEFT JOIN functions g ON g.id = c.function LEFT JOIN site_names an ON an.site = c.site
  WHERE h.moves
  ORDER BY ms DESC;
