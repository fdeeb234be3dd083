// Which instruction does what, as ranges of opcodes.
#include "traces/kernels/spirv_ops.h"

namespace gt::spirv {
namespace {

struct Range {
  uint16_t first, last;
  OpEffect effect;
};

constexpr OpEffect Pass{Effect::Passes, 0, 0xff}, Ignore{Effect::Ignores, 0, 0xff};
constexpr OpEffect reads(uint8_t pointer, uint8_t second = 0xff) { return {Effect::Loads, pointer, second}; }
constexpr OpEffect writes(uint8_t pointer, uint8_t second = 0xff) { return {Effect::Stores, pointer, second}; }
constexpr OpEffect updates(uint8_t pointer) { return {Effect::Updates, pointer, 0xff}; }

// Sorted. What is in none is Unknown.
constexpr Range Ranges[] = {
    {0, 8, Ignore},                                    // debugging
    {10, 11, Ignore},         {13, 51, Ignore},        // modes, types, constants
    {54, 56, Ignore},                                  // functions
    {60, 60, Pass},                                    // ImageTexelPointer
    {68, 69, Ignore},                                  // ArrayLength, GenericPtrMemSemantics
    {71, 75, Ignore},                                  // decorations
    {77, 79, Pass},                                    // vectors
    {83, 86, Pass},                                    // CopyObject, Transpose, SampledImage
    {87, 98, reads(0)},                                // ImageSample*, ImageFetch, ImageGather, ImageRead
    {99, 99, writes(0)},                               // ImageWrite
    {100, 100, Pass},                                  // Image
    {101, 107, Ignore},                                // ImageQuery*
    {109, 118, Pass},                                  // conversions, with ConvertPtrToU
    {119, 119, Pass},         {121, 124, Pass},        // casts between address spaces, Bitcast
    {126, 152, Pass},                                  // arithmetic
    {154, 168, Ignore},                                // tests
    {170, 191, Ignore},                                // comparisons
    {194, 205, Pass},                                  // bits
    {207, 215, Ignore},                                // derivatives
    {224, 225, Ignore},                                // barriers
    {232, 242, updates(0)},                            // atomic arithmetic
    {246, 253, Ignore},                                // control flow
    {255, 257, Ignore},                                // Unreachable, Lifetime*
    {260, 260, Ignore},                                // GroupWaitEvents
    {261, 271, Pass},                                  // Group*
    {274, 274, reads(0, 1)},                           // ReadPipe
    {275, 275, writes(0, 1)},                          // WritePipe
    {276, 276, reads(0, 3)},                           // ReservedReadPipe
    {277, 277, writes(0, 3)},                          // ReservedWritePipe
    {278, 278, reads(0)},                              // ReserveReadPipePackets
    {279, 279, writes(0)},                             // ReserveWritePipePackets
    {280, 280, reads(0)},                              // CommitReadPipe
    {281, 281, writes(0)},                             // CommitWritePipe
    {282, 284, Ignore},                                // questions about pipes
    {285, 285, reads(1)},                              // GroupReserveReadPipePackets
    {286, 286, writes(1)},                             // GroupReserveWritePipePackets
    {287, 287, reads(1)},                              // GroupCommitReadPipe
    {288, 288, writes(1)},                             // GroupCommitWritePipe
    {291, 291, writes(3)},                             // EnqueueMarker: its event
    {293, 301, Ignore},                                // questions about kernels; events
    {302, 302, writes(2)},                             // CaptureEventProfilingInfo
    {303, 304, Ignore},                                // GetDefaultQueue, BuildNDRange
    {305, 315, reads(0)},                              // ImageSparse*
    {316, 317, Ignore},       {318, 318, updates(0)},  // AtomicFlagTestAndSet
    {319, 319, writes(0)},                             // AtomicFlagClear
    {320, 320, reads(0)},                              // ImageSparseRead
    {321, 323, Ignore},       {324, 324, Pass},        // CreatePipeFromPipeStorage
    {325, 332, Ignore},       {333, 336, Ignore},      // GroupNonUniformElect, All, Any, AllEqual
    {337, 366, Pass},                                  // GroupNonUniform*
    {400, 400, Pass},                                  // CopyLogical
    {401, 403, Ignore},                                // PtrEqual, PtrNotEqual, PtrDiff
    {4417, 4417, Ignore},     {4421, 4422, Pass},      // Subgroup*KHR
    {4425, 4426, Ignore},                              // UntypedArrayLength, UntypedPrefetch
    {4428, 4430, Ignore},     {4431, 4432, Pass},     {4450, 4455, Pass},  // dot products
    {4457, 4457, reads(0)},                                                // CooperativeMatrixLoad
    {4458, 4458, writes(0)},                                               // CooperativeMatrixStore
    {5571, 5574, Pass},                                                    // SubgroupShuffle*INTEL
    {5575, 5575, reads(0)},                                                // SubgroupBlockReadINTEL
    {5576, 5576, writes(0)},                                               // SubgroupBlockWriteINTEL
    {5577, 5577, reads(0)},                                                // SubgroupImageBlockReadINTEL
    {5578, 5578, writes(0)},                                               // SubgroupImageBlockWriteINTEL
    {5580, 5580, reads(0)},                                                // SubgroupImageMediaBlockReadINTEL
    {5581, 5581, writes(0)},                                               // SubgroupImageMediaBlockWriteINTEL
    {5600, 5600, Ignore},                                                  // ConstantFunctionPointerINTEL
    {5614, 5615, updates(0)},                                              // AtomicFMin, AtomicFMax
    {5630, 5630, Ignore},                                                  // AssumeTrue
    {5631, 5631, Pass},                                                    // Expect
    {5911, 5913, Ignore},                                                  // alias scopes
    {5934, 5935, Pass},        // PtrCastToCrossWorkgroupINTEL, CrossWorkgroupCastToPtrINTEL
    {6035, 6035, updates(0)},  // AtomicFAdd
    {6116, 6117, Pass},        // ConvertFToBF16INTEL, ConvertBF16ToFINTEL
    {6120, 6120, reads(0)},    // JointMatrixLoadINTEL
    {6121, 6121, writes(0)},   // JointMatrixStoreINTEL
    {6142, 6143, Ignore},      // ControlBarrierArriveINTEL, ControlBarrierWaitINTEL
    {6401, 6408, Pass},        // Group*KHR
};

}  // namespace

OpEffect effect_of(uint16_t op) {
  for (const Range& r : Ranges)
    if (op >= r.first && op <= r.last) return r.effect;
  return {};
}

OpEffect effect_of_opencl(uint32_t instruction) {
  switch (instruction) {
    case 30:  // fract
    case 31:  // frexp
    case 36:  // lgamma_r
    case 45:  // modf
    case 58:  // sincos
      return writes(1);
    case 52:  // remquo
      return writes(2);
    case 171:  // vloadn
    case 173:  // vload_half
    case 174:  // vload_halfn
    case 179:  // vloada_halfn
      return reads(1);
    case 172:  // vstoren
    case 175:  // vstore_half
    case 176:  // vstore_half_r
    case 177:  // vstore_halfn
    case 178:  // vstore_halfn_r
    case 180:  // vstorea_halfn
    case 181:  // vstorea_halfn_r
      return writes(2);
    case 184:  // printf: the format, and what is printed as text
      return reads(0);
    case 185:  // prefetch
      return Ignore;
    default:
      return instruction < 203 ? Pass : OpEffect{};
  }
}

bool is_type_op(uint16_t op) {
  return (op >= OpTypeVoid && op <= OpTypePipe) || op == 322 || op == 327 || op == OpTypeUntypedPointer || op == 4456 ||
         op == 4472 || op == 5281 || op == 5341 || op == 5358 || (op >= 5700 && op <= 5712) || op == 6086 || op == 6119;
}

}  // namespace gt::spirv
