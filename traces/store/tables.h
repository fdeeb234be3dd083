// The tables of trace.db as structs: one `fields` a table, naming each member in the order of its
// columns.
//
// Adding a column: a line in schema.sql, in Columns, and in fields; the format version moves
// (docs/TRACE_FORMAT.md).
#pragma once

#include "traces/store/rows.h"

namespace gt::store {

// Rows that are not structs of the model.
struct FactRow {
  std::string name, value;
};
struct ArgumentRow {
  uint32_t process = 0;
  std::string text;
};
struct ShapeRow {
  model::Shape shape;  // without args
};
struct ArgRow {
  model::ShapeId shape = 0;
  model::Arg arg;
};
struct StreamRow {
  model::ThreadId thread = 0;
  bool memory = false;
  Bytes timeline;
};
struct NodeRow {
  uint32_t stream = 0;
  uint32_t parent = model::NoIndex;
  uint32_t ordinal = 0;
  model::Node::Kind kind = model::Node::Kind::Call;
  model::ShapeId shape = model::NoIndex;
  bool has_count = false;
  int64_t count = 0;
  Bytes series, run;
};
struct BlobRow {
  uint64_t full_size = 0, size = 0;
  bool packed = false;
  Bytes bytes;
};
struct FunctionRow {
  model::FnId id = 0;
  std::string name;
  std::string transfer;  // '' is stored as NULL
  bool launch = false;
};

// The column that numbers the rows comes first and is not named in Columns. Columns that a later format added stand in
// Since2 and so on, and in `fields` after a test of row.format().
template <class T>
struct Table;
template <class T>
std::string columns_of(int format) {
  std::string columns = Table<T>::Columns;
  if constexpr (requires { Table<T>::Since2; }) {
    if (format >= 2) columns += Table<T>::Since2;
  }
  if constexpr (requires { Table<T>::Since3; }) {
    if (format >= 3) columns += Table<T>::Since3;
  }
  return columns;
}

template <>
struct Table<FactRow> {
  static constexpr const char* Name = "facts";
  static constexpr const char* Columns = "name,value,pad";
};
template <>
struct Table<model::Process> {
  static constexpr const char* Name = "processes";
  static constexpr const char* Columns =
      "pid,parent,executable,start_ns,end_ns,exit_code,exit_signal,pad";
};
template <>
struct Table<ArgumentRow> {
  static constexpr const char* Name = "arguments";
  static constexpr const char* Columns = "process,text";
};
template <>
struct Table<model::Thread> {
  static constexpr const char* Name = "threads";
  static constexpr const char* Columns = "process,tid,pad";
};
template <>
struct Table<model::Module> {
  static constexpr const char* Name = "modules";
  static constexpr const char* Columns = "process,base,\"end\",path,build_id,pad";
};
template <>
struct Table<model::Site> {
  static constexpr const char* Name = "sites";
  static constexpr const char* Columns = "module,\"offset\"";
  static constexpr const char* Since2 = ",\"outer\"";
};
template <>
struct Table<model::Class> {
  static constexpr const char* Name = "classes";
  static constexpr const char* Columns = "kind,thread,site,function,label";
};
template <>
struct Table<ShapeRow> {
  static constexpr const char* Name = "shapes";
  static constexpr const char* Columns = "function,site,thread,unfinished";
  static constexpr const char* Since2 = ",moves";
};
template <>
struct Table<ArgRow> {
  static constexpr const char* Name = "args";
  static constexpr const char* Columns = "shape,param,form,effect,class";
};
template <>
struct Table<StreamRow> {
  static constexpr const char* Name = "streams";
  static constexpr const char* Columns = "thread,memory";
  static constexpr const char* Since2 = ",timeline";
};
template <>
struct Table<NodeRow> {
  static constexpr const char* Name = "nodes";
  static constexpr const char* Columns = "stream,parent,ordinal,kind,shape,count,series,run,pad";
};
template <>
struct Table<BlobRow> {
  static constexpr const char* Name = "blobs";
  static constexpr const char* Columns = "full_size,size,packed,bytes";
};
template <>
struct Table<model::ShapeStats> {
  static constexpr const char* Name = "stats";
  static constexpr const char* Columns =
      "calls,failed,host_count,host_ns,host_min_ns,host_max_ns,host_histogram,device_count,device_"
      "ns,device_min_ns,"
      "device_max_ns,device_histogram,bytes_count,bytes,bytes_min,bytes_max,bytes_histogram,first_"
      "host_ns,"
      "first_device_ns,insane,pad";
  static constexpr const char* Since2 = ",timed";
};
template <>
struct Table<model::DeviceTime> {
  static constexpr const char* Name = "devices";
  static constexpr const char* Columns =
      "name,kernel_ns,transfer_ns,h2d_ns,d2h_ns,overlap_ns,kernels,transfers,untimed_kernels,"
      "untimed_transfers,pad";
  static constexpr const char* Since2 = ",estimated_kernels,estimated_transfers";
  static constexpr const char* Since3 = ",steady_kernel_ns,steady_transfer_ns,steady_overlap_ns";
};
template <>
struct Table<model::ObjectTime> {  // since 3
  static constexpr const char* Name = "object_times";
  static constexpr const char* Columns =
      "class,slot,device,kernel_ns,transfer_ns,h2d_ns,d2h_ns,overlap_ns,kernels,transfers,estimated_kernels,"
      "estimated_transfers,untimed_kernels,untimed_transfers,steady_kernel_ns,steady_transfer_ns,steady_overlap_ns,pad";
};
template <>
struct Table<model::Kernel> {
  static constexpr const char* Name = "kernels";
  static constexpr const char* Columns = "class,name,source,options";
};

template <class Row>
void fields(Row& row, FactRow& v) {
  row.text(v.name);
  row.number_text(v.value);
  row.pad();
}
template <class Row>
void fields(Row& row, model::Process& v) {
  row.number(v.pid);
  row.number(v.parent);
  row.text(v.executable);
  row.number(v.start_ns);
  row.number(v.end_ns);
  row.number(v.exit_code);
  row.number(v.exit_signal);
  row.pad();
}
template <class Row>
void fields(Row& row, ArgumentRow& v) {
  row.number(v.process);
  row.text(v.text);
}
template <class Row>
void fields(Row& row, model::Thread& v) {
  row.number(v.process);
  row.number(v.tid);
  row.pad();
}
template <class Row>
void fields(Row& row, model::Module& v) {
  row.number(v.process);
  row.number(v.base);
  row.number(v.end);
  row.text(v.path);
  row.text(v.build_id);
  row.pad();
}
template <class Row>
void fields(Row& row, model::Site& v) {
  row.index(v.module);
  row.number(v.offset);
  if (row.format() >= 2) row.index(v.outer);
}
template <class Row>
void fields(Row& row, model::Class& v) {
  row.choice(v.kind, api::LastObjectKind);
  row.number(v.thread);
  row.index(v.site);
  row.number(v.fn);
  row.index(v.label);
}
template <class Row>
void fields(Row& row, ShapeRow& v) {
  row.number(v.shape.fn);
  row.index(v.shape.site);
  row.number(v.shape.thread);
  row.number(v.shape.unfinished);
  if (row.format() >= 2) row.choice(v.shape.moves, model::Direction::DeviceToDevice);
}
template <class Row>
void fields(Row& row, ArgRow& v) {
  row.number(v.shape);
  row.number(v.arg.param);
  row.choice(v.arg.form, model::ArgForm::Empty);
  row.choice(v.arg.effect, model::Effect::Release);
  row.index(v.arg.cls);
}
template <class Row>
void fields(Row& row, StreamRow& v) {
  row.number(v.thread);
  row.number(v.memory);
  if (row.format() >= 2) row.blob(v.timeline);
}
template <class Row>
void fields(Row& row, NodeRow& v) {
  row.number(v.stream);
  row.index(v.parent);
  row.number(v.ordinal);
  row.choice(v.kind, model::Node::Kind::Summary);
  row.index(v.shape);
  row.optional_number(v.has_count, v.count);
  row.blob(v.series);
  row.blob(v.run);
  row.pad();
}
template <class Row>
void fields(Row& row, BlobRow& v) {
  row.number(v.full_size);
  row.number(v.size);
  row.number(v.packed);
  row.blob(v.bytes);
}
template <class Row>
void fields(Row& row, model::ShapeStats& v) {
  row.number(v.calls);
  row.number(v.failed);
  row.stats(v.host_ns);
  row.stats(v.device_ns);
  row.stats(v.bytes);
  row.number(v.first_host_ns);
  row.number(v.first_device_ns);
  row.number(v.insane);
  row.pad();
  if (row.format() >= 2) {
    row.number(v.timed);
  } else {
    v.timed = v.device_ns.count;  // nothing was estimated then
  }
}
template <class Row>
void fields(Row& row, model::DeviceTime& v) {
  row.text(v.device);
  row.number(v.kernel_ns);
  row.number(v.transfer_ns);
  row.number(v.h2d_ns);
  row.number(v.d2h_ns);
  row.number(v.overlap_ns);
  row.number(v.kernels);
  row.number(v.transfers);
  row.number(v.untimed_kernels);
  row.number(v.untimed_transfers);
  row.pad();
  if (row.format() >= 2) {
    row.number(v.estimated_kernels);
    row.number(v.estimated_transfers);
  }
  if (row.format() >= 3) {
    row.number(v.steady_kernel_ns);
    row.number(v.steady_transfer_ns);
    row.number(v.steady_overlap_ns);
  }
}
template <class Row>
void fields(Row& row, model::ObjectTime& v) {
  model::DeviceTime& t = v.time;
  row.number(v.cls);
  row.number(v.slot);
  row.number(v.device);
  for (uint64_t* n : {&t.kernel_ns, &t.transfer_ns, &t.h2d_ns, &t.d2h_ns, &t.overlap_ns, &t.kernels, &t.transfers,
                      &t.estimated_kernels, &t.estimated_transfers, &t.untimed_kernels, &t.untimed_transfers,
                      &t.steady_kernel_ns, &t.steady_transfer_ns, &t.steady_overlap_ns}) {
    row.number(*n);
  }
  row.pad();
}
template <class Row>
void fields(Row& row, model::Kernel& v) {
  row.number(v.cls);
  row.text(v.name);
  row.index(v.source);
  row.index(v.options);
}

}  // namespace gt::store
