// From points to SVG.
#include "microbench/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "microbench/report/html.h"
#include "microbench/report/units.h"

namespace gt::bench {
namespace {

constexpr double Width = 640, Height = 380, Left = 64, Right = 14, Top = 10, Bottom = 42;
constexpr double LeastDecades = 0.5;  // a flat line is not blown up

bool drawable(double x, double y) { return std::isfinite(x) && std::isfinite(y) && x > 0 && y > 0; }

// One logarithmic axis: from values to places.
struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = 0;  // values
  double from = 0, to = 1;                                         // places
  void see(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool seen() const { return low <= high; }
  void widen() {
    const double margin = std::max(0.03 * std::log10(high / low), (LeastDecades - std::log10(high / low)) / 2);
    low /= std::pow(10, margin);
    high *= std::pow(10, margin);
  }
  double operator()(double v) const {
    const double clamped = std::clamp(v, low, high);
    return from + (to - from) * std::log(clamped / low) / std::log(high / low);
  }
};

std::string tick_text(Axis axis, double v) {
  switch (axis) {
    case Axis::Bytes: return size_text(v);
    case Axis::Nanoseconds: return short_time_text(v);
    default: return fmt::format("{:g}", v);
  }
}

// Powers of two for bytes, at most eight of them; else 1, 2, 5 of each decade, or only its 1.
std::vector<double> ticks(Axis axis, const Scale& s) {
  std::vector<double> out;
  if (axis == Axis::Bytes) {
    const double first = std::ceil(std::log2(s.low)), last = std::floor(std::log2(s.high));
    const double step = std::max(1.0, std::ceil((last - first + 1) / 8));
    for (double e = std::ceil(first / step) * step; e <= last; e += step) out.push_back(std::exp2(e));
    return out;
  }
  const bool many = std::log10(s.high / s.low) > 3.5;
  for (double decade = std::floor(std::log10(s.low)); decade <= std::log10(s.high); ++decade)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double v = digit * std::pow(10, decade);
      if (v >= s.low && v <= s.high && (!many || digit == 1)) out.push_back(v);
    }
  return out;
}

class Picture {
 public:
  explicit Picture(const Plot& plot) : plot_(plot) {
    x_.from = Left, x_.to = Width - Right;
    y_.from = Height - Bottom, y_.to = Top;
    for (const PlotLine& line : plot.lines) see(line);
    if (!x_.seen()) return;
    x_.widen();
    y_.widen();
  }
  bool empty() const { return !x_.seen(); }

  std::string svg() {
    out_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", Width, Height,
                        escaped(plot_.title));
    axes();
    for (const PlotLine& line : plot_.lines) band(line);
    for (const PlotLine& line : plot_.lines) samples(line);
    for (const PlotLine& line : plot_.lines) curve(line);
    for (const PlotLine& line : plot_.lines) marks(line);
    return out_ + "</svg>\n";
  }

 private:
  void see(double x, double y) {
    if (!drawable(x, y)) return;
    x_.see(x);
    y_.see(y);
  }
  void see(const PlotLine& line) {
    for (const Point& p : line.curve) see(p.x, p.y);
    for (const Mark& m : line.marks) see(m.x, m.low), see(m.x, m.high);
  }

  void axes() {
    for (const double v : ticks(plot_.x, x_)) {
      out_ += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x_(v), Top,
                           Height - Bottom);
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_(v),
                           Height - Bottom + 15, tick_text(plot_.x, v));
    }
    for (const double v : ticks(plot_.y, y_)) {
      out_ += fmt::format("<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>", y_(v), Left,
                           Width - Right);
      out_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", Left - 6, y_(v) + 4,
                           tick_text(plot_.y, v));
    }
    out_ += fmt::format("<path class=\"axis\" fill=\"none\" d=\"M{} {}V{}H{}\"/>\n", Left, Top, Height - Bottom,
                         Width - Right);
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (Left + Width - Right) / 2,
                         Height - 8, escaped(plot_.name_of_x));
    out_ += fmt::format("<text transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                         (Top + Height - Bottom) / 2, escaped(plot_.name_of_y));
  }

  static const char* color(const PlotLine& line) {
    static constexpr const char* Classes[PlotColors] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6"};
    return Classes[line.color % PlotColors];
  }

  void band(const PlotLine& line) {
    if (line.marks.size() < 2) return;
    std::string path;
    for (const Mark& m : line.marks)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_(m.x), y_(m.high));
    for (auto m = line.marks.rbegin(); m != line.marks.rend(); ++m)
      path += fmt::format("L{:.1f} {:.1f}", x_(m->x), y_(m->low));
    out_ += fmt::format("<path class=\"band fill {}\" d=\"{}Z\"/>\n", color(line), path);
  }

  // All of a line's dots are one path of short strokes: thousands of elements would make pages heavy.
  void samples(const PlotLine& line) {
    std::string path;
    for (const Point& p : line.samples)
      if (drawable(p.x, p.y) && p.y >= y_.low && p.y <= y_.high)
        path += fmt::format("M{:.1f} {:.1f}h1.6v1.6h-1.6z", x_(p.x) - 0.8, y_(p.y) - 0.8);
    if (!path.empty()) out_ += fmt::format("<path class=\"sample fill {}\" d=\"{}\"/>\n", color(line), path);
  }

  void curve(const PlotLine& line) {
    std::string path;
    for (const Point& p : line.curve)
      if (drawable(p.x, p.y)) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_(p.x), y_(p.y));
    if (!path.empty())
      out_ += fmt::format("<path class=\"line{} {}\" d=\"{}\"/>\n", line.dashed ? " dashed" : "", color(line), path);
  }

  void marks(const PlotLine& line) {
    constexpr const char* Circle =
        "<circle class=\"mark fill {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"><title>{}</title></circle>\n";
    for (const Mark& m : line.marks)
      if (drawable(m.x, m.y)) out_ += fmt::format(Circle, color(line), x_(m.x), y_(m.y), escaped(m.text));
  }

  const Plot& plot_;
  Scale x_, y_;
  std::string out_;
};

}  // namespace

std::string figure(const Plot& plot) {
  Picture picture(plot);
  if (picture.empty()) return {};
  std::string out = "<figure>\n<figcaption>" + escaped(plot.title) + "</figcaption>\n" + picture.svg();
  out += "<ul class=\"legend\">";
  for (const PlotLine& line : plot.lines)
    out += fmt::format("<li><span class=\"c{}\"></span>{}</li>", line.color % PlotColors, escaped(line.name));
  return out + "</ul>\n</figure>\n";
}

}  // namespace gt::bench
