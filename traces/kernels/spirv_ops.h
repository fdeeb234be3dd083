// The opcodes of SPIR-V that the reader tells apart, and what those do that it does not follow one by one.
//
// Numbers are those of the Khronos registry ("SPIR-V Specification, unified", and the extensions' documents).
#pragma once

#include <cstdint>

namespace gt::spirv {

enum Op : uint16_t {
  OpUndef = 1,
  OpName = 5,
  OpString = 7,
  OpExtInstImport = 11,
  OpExtInst = 12,
  OpMemoryModel = 14,
  OpEntryPoint = 15,
  OpTypeVoid = 19,
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpTypeVector = 23,
  OpTypeMatrix = 24,
  OpTypeImage = 25,
  OpTypeSampler = 26,
  OpTypeSampledImage = 27,
  OpTypeArray = 28,
  OpTypeRuntimeArray = 29,
  OpTypeStruct = 30,
  OpTypeOpaque = 31,
  OpTypePointer = 32,
  OpTypeFunction = 33,
  OpTypePipe = 38,
  OpConstant = 43,
  OpConstantComposite = 44,
  OpConstantNull = 46,
  OpSpecConstant = 50,
  OpSpecConstantComposite = 51,
  OpSpecConstantOp = 52,
  OpFunction = 54,
  OpFunctionParameter = 55,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpVariable = 59,
  OpLoad = 61,
  OpStore = 62,
  OpCopyMemory = 63,
  OpCopyMemorySized = 64,
  OpAccessChain = 65,
  OpInBoundsAccessChain = 66,
  OpPtrAccessChain = 67,
  OpInBoundsPtrAccessChain = 70,
  OpDecorate = 71,
  OpDecorationGroup = 73,
  OpGroupDecorate = 74,
  OpCompositeConstruct = 80,
  OpCompositeExtract = 81,
  OpCompositeInsert = 82,
  OpConvertPtrToU = 117,
  OpConvertUToPtr = 120,
  OpISub = 130,
  OpSelect = 169,
  OpBitwiseAnd = 199,
  OpAtomicLoad = 227,
  OpAtomicStore = 228,
  OpAtomicExchange = 229,
  OpAtomicCompareExchange = 230,
  OpAtomicCompareExchangeWeak = 231,
  OpPhi = 245,
  OpLabel = 248,
  OpReturnValue = 254,
  OpGroupAsyncCopy = 259,
  OpEnqueueKernel = 292,
  OpTypeUntypedPointer = 4417,
  OpUntypedVariable = 4418,
  OpUntypedAccessChain = 4419,
  OpUntypedInBoundsAccessChain = 4420,
  OpUntypedPtrAccessChain = 4423,
  OpUntypedInBoundsPtrAccessChain = 4424,
  OpFunctionPointerCall = 5601,
  OpAsmCall = 5611,
};

enum StorageClass : uint32_t {
  UniformConstant = 0,  // constant
  Input = 1,
  Workgroup = 4,       // local
  CrossWorkgroup = 5,  // global
  PrivateStorage = 6,
  FunctionStorage = 7,
  GenericStorage = 8,
  DeviceOnly = 5936,  // Intel's: global, of one side
  HostOnly = 5937,
};

enum Decoration : uint32_t {
  PackedStruct = 10,
  NonWritable = 24,
  NonReadable = 25,
  FuncParamAttr = 38,
  LinkageAttributes = 41
};
enum ParamAttr : uint32_t { ByVal = 2, NoWrite = 6, NoReadWrite = 7 };

// What an instruction does beyond giving a result.
enum class Effect : uint8_t {
  Passes,   // nothing: what its operands point to, its result may point to
  Ignores,  // nothing, and its result is no address
  Loads,    // the memory behind operand `pointer`
  Stores,   // numbers to it
  Updates,  // both
  Unknown,  // anything, through each of its operands
};
struct OpEffect {
  Effect effect = Effect::Unknown;
  uint8_t pointer = 0;    // which operand, counted from behind the result (or the opcode, where it has none)
  uint8_t second = 0xff;  // another one, of which the other is done: a pipe's packet
};

// Of those that are not followed one by one.
OpEffect effect_of(uint16_t op);
// Of OpenCL's extended instructions: operands are counted from behind the instruction's number.
OpEffect effect_of_opencl(uint32_t instruction);
// Does it give a type?
bool is_type_op(uint16_t op);

}  // namespace gt::spirv
