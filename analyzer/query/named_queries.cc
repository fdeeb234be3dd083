// The table of questions. Those of docs/TRACE_FORMAT.md come first, in its order; a test compares the answers.
#include "analyzer/query/named_queries.h"

#include <algorithm>

namespace gt::analyzer {
namespace {

constexpr NamedQuery Queries[] = {
    {"calls", "which calls take the host's time", "SELECT * FROM calls_by_time LIMIT 10"},
    {"transfers", "what is moved, by direction and size class, and how fast", "SELECT * FROM transfers"},
    {"sources", "where the memory of the dearest transfers comes from", "SELECT * FROM transfer_sources LIMIT 10"},
    {"kernels", "which kernels take the device's time",
     R"(SELECT k.name, k.source AS source, k.options AS options, sum(t.calls) AS launches,
               sum(t.device_ns) / 1e6 AS device_ms,
               round(100.0 * sum(t.device_ns) / sum(sum(t.device_ns)) OVER (), 1) AS percent
        FROM kernels k JOIN args a ON a.class = k.class AND a.form = 2
             JOIN shapes h ON h.id = a.shape JOIN functions f ON f.id = h.function JOIN stats t ON t.shape = h.id
        WHERE f.launch OR a.param = 0xff02 GROUP BY k.name, k.source, k.options ORDER BY device_ms DESC)"},
    {"ratio", "transfer time and kernel time of each device: the dispatch ratio",
     R"(SELECT name, transfer_ns / 1e6 AS transfer_ms, kernel_ns / 1e6 AS kernel_ms, overlap_ns / 1e6 AS both_ms,
               1.0 * transfer_ns / nullif(kernel_ns, 0) AS dispatch_ratio FROM devices)"},
    {"loops", "which loops there are, and how many different calls are in one iteration",
     R"(WITH RECURSIVE inside(loop, node) AS (
          SELECT id, id FROM nodes WHERE kind = 1
          UNION ALL SELECT i.loop, n.id FROM inside i JOIN nodes n ON n.parent = i.node)
        SELECT l.id AS loop, l.parent, s.thread, coalesce(l.count, 'varies') AS iterations,
               sum(n.kind = 0) AS calls_in_body, group_concat(DISTINCT f.name) AS functions
        FROM inside i JOIN nodes l ON l.id = i.loop JOIN nodes n ON n.id = i.node JOIN streams s ON s.id = l.stream
             LEFT JOIN shapes h ON h.id = n.shape LEFT JOIN functions f ON f.id = h.function
        GROUP BY l.id ORDER BY l.id)"},
    {"warmup", "what the first execution of a call costs beyond the later ones",
     R"(SELECT f.name, n.text AS site, t.first_host_ns / 1e3 AS first_us,
               (t.host_ns - t.first_host_ns) / 1e3 / (t.host_count - 1) AS later_us
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
             LEFT JOIN site_names n ON n.site = h.site
        WHERE t.host_count > 1 ORDER BY t.first_host_ns DESC LIMIT 10)"},
    {"allocations", "the largest allocations, and which of them OpenCL ever sees",
     R"(SELECT n.text AS site, f.name AS function, sum(t.calls) AS calls, sum(t.bytes) AS bytes,
               max(EXISTS (SELECT 1 FROM args u JOIN shapes uh ON uh.id = u.shape
                           WHERE u.class = a.class AND uh.function < 0x8000)) AS seen_by_opencl
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
             JOIN args a ON a.shape = h.id AND a.effect = 2 LEFT JOIN site_names n ON n.site = h.site
        WHERE f.id BETWEEN 0x8000 AND 0xbfff AND t.bytes_count > 0
        GROUP BY h.site, f.id ORDER BY bytes DESC LIMIT 10)"},
    {"builds", "which program built which kernel, with which options",
     R"(SELECT k.name, o.full_size AS option_bytes, CASE WHEN o.packed = 0 THEN CAST(o.bytes AS TEXT) END AS options,
               s.full_size AS source_bytes
        FROM kernels k LEFT JOIN blobs o ON o.id = k.options LEFT JOIN blobs s ON s.id = k.source)"},
    {"recording", "what was not recorded, and what recording cost",
     R"(SELECT name, value FROM facts WHERE name LIKE 'lost.%' OR name LIKE 'overhead.%' OR name LIKE 'summarised.%')"},

    {"sites", "hot sites: allocations by the time of the transfers that they feed",
     R"(SELECT place(c.site) AS site, g.name AS allocated_by, sum(t.calls) AS transfers,
               sum(CASE h.moves WHEN 1 THEN t.bytes ELSE 0 END) AS h2d_bytes,
               sum(CASE h.moves WHEN 2 THEN t.bytes ELSE 0 END) AS d2h_bytes,
               sum(CASE WHEN t.device_count THEN t.device_ns ELSE t.host_ns END) / 1e6 AS ms
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN args a ON a.shape = h.id AND a.form = 3 AND a.param <> 0xff02
             JOIN classes c ON c.id = a.class JOIN functions g ON g.id = c.function
        WHERE h.moves IN (1, 2) GROUP BY c.site, g.id ORDER BY ms DESC)"},
    {"biggest", "the biggest single transfers, and where they are made",
     R"(SELECT f.name AS function, place(h.site) AS site,
               CASE h.moves WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' ELSE 'd2d' END AS direction,
               t.bytes_max AS largest_bytes, t.bytes / t.bytes_count AS mean_bytes, t.calls
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE h.moves AND t.bytes_count ORDER BY t.bytes_max DESC LIMIT 20)"},
    {"blocking", "calls in which the program waits for the device",
     R"(SELECT f.name AS function, place(h.site) AS site, t.calls, t.host_ns / 1e6 AS host_ms,
               t.host_ns / 1e3 / max(t.host_count, 1) AS avg_us, t.device_ns / 1e6 AS device_ms,
               CASE WHEN blocks(h.id) IS NULL THEN 'sometimes' ELSE 'always' END AS waits
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE t.calls AND coalesce(blocks(h.id), 1) ORDER BY t.host_ns DESC)"},
    {"small", "transfers of less than 4 KiB, by what they cost in all",
     R"(SELECT f.name AS function, place(h.site) AS site, t.calls, t.bytes / t.bytes_count AS mean_bytes,
               t.host_ns / 1e6 AS host_ms, t.device_ns / 1e6 AS device_ms
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE h.moves AND t.bytes_count AND t.bytes / t.bytes_count < 4096 ORDER BY t.host_ns + t.device_ns DESC)"},
    {"queues", "queues by where they are made: launches, transfers, device time",
     R"(SELECT place(c.site) AS made_at, sum(CASE WHEN f.launch THEN t.calls ELSE 0 END) AS launches,
               sum(CASE WHEN h.moves THEN t.calls ELSE 0 END) AS transfers,
               sum(CASE WHEN h.moves THEN t.bytes ELSE 0 END) AS bytes, sum(t.device_ns) / 1e6 AS device_ms
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
             JOIN args a ON a.shape = h.id AND a.param = 0 AND a.form = 2 JOIN classes c ON c.id = a.class
             JOIN kinds k ON k.id = c.kind
        WHERE k.name = 'queue' AND f.name LIKE 'clEnqueue%' GROUP BY c.site ORDER BY device_ms DESC)"},
    {"buffers", "where buffers and images are made, how many, how large",
     R"(SELECT f.name AS function, place(h.site) AS site, t.calls,
               CASE f.name WHEN 'clCreateBuffer' THEN constant(h.id, 2) WHEN 'clSVMAlloc' THEN constant(h.id, 2)
                           WHEN 'clCreateBufferWithProperties' THEN constant(h.id, 3) END AS size_if_constant,
               t.host_ns / 1e6 AS host_ms
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE f.name IN ('clCreateBuffer', 'clCreateBufferWithProperties', 'clCreateImage', 'clCreateImage2D',
                         'clCreateImage3D', 'clCreateImageWithProperties', 'clCreateSubBuffer', 'clSVMAlloc')
        ORDER BY t.calls DESC)"},
    {"failed", "calls that returned an error",
     R"(SELECT f.name AS function, place(h.site) AS site, t.calls, t.failed
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE t.failed ORDER BY t.failed DESC)"},
    {"untimed", "commands without device times",
     R"(SELECT f.name AS function, place(h.site) AS site, t.calls, t.calls - t.device_count AS untimed, t.insane
        FROM stats t JOIN shapes h ON h.id = t.shape JOIN functions f ON f.id = h.function
        WHERE (f.launch OR h.moves) AND (t.device_count < t.calls OR t.insane) ORDER BY untimed DESC)"},
    {"threads", "threads, their processes and how many calls each made",
     R"(SELECT d.id AS thread, p.pid, d.tid, sum(CASE WHEN h.function < 0x8000 THEN t.calls ELSE 0 END) AS opencl_calls,
               sum(CASE WHEN h.function BETWEEN 0x8000 AND 0xbfff THEN t.calls ELSE 0 END) AS memory_calls,
               sum(t.host_ns) / 1e6 AS host_ms
        FROM threads d JOIN processes p ON p.id = d.process LEFT JOIN shapes h ON h.thread = d.id
             LEFT JOIN stats t ON t.shape = h.id GROUP BY d.id ORDER BY d.id)"},
    {"modules", "executables and libraries that called us",
     R"(SELECT m.path, m.build_id, count(DISTINCT s.id) AS sites FROM modules m LEFT JOIN sites s ON s.module = m.id
        GROUP BY m.path, m.build_id ORDER BY sites DESC)"},
};

}  // namespace

std::span<const NamedQuery> named_queries() { return Queries; }

const NamedQuery* find_query(std::string_view name) {
  const auto at = std::find_if(std::begin(Queries), std::end(Queries), [&](const auto& q) { return q.name == name; });
  return at == std::end(Queries) ? nullptr : at;
}

}  // namespace gt::analyzer
