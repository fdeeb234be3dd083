// A plot as SVG: both axes logarithmic, lines with the band in which the medians lie, and the samples as dots. Colours
// are classes of the page's style (c0, c1, ...), so that it is right in the light and in the dark.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

namespace gt::bench {

struct Point {
  double x = 0, y = 0;  // > 0; others are not drawn
};
struct Mark {
  double x = 0, y = 0, low = 0, high = 0;  // a median and its interval
  std::string text;                        // shown where the mouse rests
};
struct PlotLine {
  std::string name;
  size_t color = 0;
  std::vector<Point> curve, samples;
  std::vector<Mark> marks;  // ascending in x: the band
  bool dashed = false;
};

enum class Axis { Bytes, Nanoseconds, GigabytesPerSecond, Gigaflops, Number };

struct Plot {
  std::string title;
  Axis x = Axis::Bytes, y = Axis::Nanoseconds;
  std::string name_of_x, name_of_y;
  std::vector<PlotLine> lines;
};

constexpr size_t PlotColors = 7;  // the classes c0 ... c6

// A <figure> with the title, the picture and its legend; empty when there is nothing to draw.
std::string figure(const Plot& plot);

}  // namespace gt::bench
