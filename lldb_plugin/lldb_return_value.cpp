#include "lldb_return_value.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace flamb {

namespace {

// "Classification" in the System V ABI for x86-64, section 3.2.3: what each eightbyte of a value is.
enum class Class { none, integer, sse, x87, memory };

constexpr std::uint64_t kEightbyte = 8;
constexpr std::size_t kRegisterBytes = 64;  // of zmm0, the widest one

struct Classes {
  std::array<Class, 2> eightbytes{Class::none, Class::none};
  bool may_be_in_memory = false;  // a class with its own special members, which may not be trivial
};

Class merge(Class a, Class b) {
  if (a == b || b == Class::none) return a;
  if (a == Class::none) return b;
  if (a == Class::memory || b == Class::memory) return Class::memory;
  if (a == Class::integer || b == Class::integer) return Class::integer;
  return a == Class::x87 || b == Class::x87 ? Class::memory : Class::sse;
}

void put(Classes& classes, std::uint64_t offset, std::uint64_t size, Class what) {
  for (std::uint64_t i = offset / kEightbyte; i <= (offset + size - 1) / kEightbyte && i < 2; ++i) {
    classes.eightbytes.at(i) = merge(classes.eightbytes.at(i), what);
  }
}

Class class_of_scalar(lldb::SBType type) {
  switch (type.GetBasicType()) {
    case lldb::eBasicTypeHalf:
    case lldb::eBasicTypeFloat:
    case lldb::eBasicTypeDouble:
    case lldb::eBasicTypeFloatComplex:
    case lldb::eBasicTypeDoubleComplex: return Class::sse;
    case lldb::eBasicTypeLongDouble:
    case lldb::eBasicTypeLongDoubleComplex: return Class::x87;
    default: break;
  }
  return type.GetTypeClass() == lldb::eTypeClassVector ? Class::sse : Class::integer;
}

// Debug information does not say whether a destructor or constructor that a class declares is trivial.
bool declares_special_members(lldb::SBType type) {
  if (type.IsPolymorphicClass() || type.GetNumberOfVirtualBaseClasses() > 0) return true;
  for (std::uint32_t i = 0; i < type.GetNumberOfMemberFunctions(); ++i) {
    const lldb::MemberFunctionKind kind = type.GetMemberFunctionAtIndex(i).GetKind();
    if (kind == lldb::eMemberFunctionKindDestructor || kind == lldb::eMemberFunctionKindConstructor) return true;
  }
  return false;
}

void classify(lldb::SBType declared, std::uint64_t offset, Classes& classes);

void classify_members(lldb::SBType type, std::uint64_t offset, Classes& classes) {
  classes.may_be_in_memory |= declares_special_members(type);
  for (std::uint32_t i = 0; i < type.GetNumberOfDirectBaseClasses(); ++i) {
    lldb::SBTypeMember base = type.GetDirectBaseClassAtIndex(i);
    classify(base.GetType(), offset + base.GetOffsetInBytes(), classes);
  }
  for (std::uint32_t i = 0; i < type.GetNumberOfFields(); ++i) {
    lldb::SBTypeMember field = type.GetFieldAtIndex(i);
    if (field.IsBitfield()) {
      const std::uint64_t bit = field.GetOffsetInBits();
      const std::uint64_t first = offset + bit / 8;
      const std::uint64_t last = offset + (bit + std::max(field.GetBitfieldSizeInBits(), 1U) - 1) / 8;
      put(classes, first, last - first + 1, Class::integer);
    } else {
      classify(field.GetType(), offset + field.GetOffsetInBytes(), classes);
    }
  }
}

void classify(lldb::SBType declared, std::uint64_t offset, Classes& classes) {
  lldb::SBType type = declared.GetCanonicalType();
  const std::uint64_t size = type.GetByteSize();
  switch (type.GetTypeClass()) {
    case lldb::eTypeClassClass:
    case lldb::eTypeClassStruct:
    case lldb::eTypeClassUnion: return classify_members(type, offset, classes);
    case lldb::eTypeClassArray: {
      lldb::SBType element = type.GetArrayElementType();
      const std::uint64_t step = std::max<std::uint64_t>(element.GetByteSize(), 1);
      for (std::uint64_t at = 0; at + step <= size; at += step) classify(element, offset + at, classes);
      return;
    }
    default: break;
  }
  if (size > 0) put(classes, offset, size, class_of_scalar(type));
}

bool is_aggregate(lldb::SBType type) {
  const lldb::TypeClass kind = type.GetTypeClass();
  return kind == lldb::eTypeClassClass || kind == lldb::eTypeClassStruct || kind == lldb::eTypeClassUnion;
}

std::vector<std::uint8_t> register_bytes(lldb::SBFrame& frame, const char* name) {
  std::vector<std::uint8_t> bytes(kRegisterBytes);
  lldb::SBError error;
  lldb::SBData data = frame.FindRegister(name).GetData();
  const std::size_t size = std::min(data.GetByteSize(), bytes.size());
  data.ReadRawData(error, 0, bytes.data(), size);
  bytes.resize(size);
  return bytes;
}

// The value's bytes, gathered from the registers that hold its eightbytes.
std::vector<std::uint8_t> gather(lldb::SBFrame& frame, lldb::SBType type, const Classes& classes) {
  const std::uint64_t size = type.GetByteSize();
  if (classes.eightbytes[0] == Class::x87) {
    auto bytes = register_bytes(frame, "st0");
    if (size > 16) {  // long double _Complex: its imaginary part is in the next one
      bytes.resize(16);
      const auto imaginary = register_bytes(frame, "st1");
      bytes.insert(bytes.end(), imaginary.begin(), imaginary.end());
    }
    bytes.resize(size);
    return bytes;
  }
  if (size > 16) {
    auto bytes = register_bytes(frame, size > 32 ? "zmm0" : "ymm0");
    bytes.resize(size);
    return bytes;
  }
  if (type.GetTypeClass() == lldb::eTypeClassVector) {
    auto bytes = register_bytes(frame, "xmm0");
    bytes.resize(size);
    return bytes;
  }
  std::array<const char*, 2> integers{"rax", "rdx"};
  std::array<const char*, 2> floats{"xmm0", "xmm1"};
  std::size_t next_integer = 0;
  std::size_t next_float = 0;
  std::vector<std::uint8_t> bytes;
  for (const Class what : classes.eightbytes) {
    std::vector<std::uint8_t> part;
    if (what == Class::integer) part = register_bytes(frame, integers.at(next_integer++));
    if (what == Class::sse) part = register_bytes(frame, floats.at(next_float++));
    part.resize(kEightbyte);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  bytes.resize(size);
  return bytes;
}

bool is_in_memory(lldb::SBType type, const Classes& classes, std::uint64_t rax,
                  std::optional<std::uint64_t> first_argument) {
  if (std::ranges::find(classes.eightbytes, Class::memory) != classes.eightbytes.end()) return true;
  if (!is_aggregate(type)) return false;
  if (type.GetByteSize() > 16) return true;
  // A class that is not trivial is returned where the caller says, and rax says so again.
  return classes.may_be_in_memory && first_argument == rax;
}

constexpr const char* kName = "returned";

// "(int) 42", as LLDB's `p` prints a value: without a name.
std::string description(lldb::SBValue value) {
  lldb::SBStream stream;
  value.GetDescription(stream);
  std::string text = stream.GetData() ? stream.GetData() : "";
  const std::string named = fmt::format(") {} = ", kName);
  if (const auto at = text.find(named); at != text.npos) text.replace(at, named.size(), ") ");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> returned_value(lldb::SBFrame frame, lldb::SBType declared,
                                   std::optional<std::uint64_t> first_argument) {
  lldb::SBType type = declared.GetCanonicalType();
  if (type.GetBasicType() == lldb::eBasicTypeVoid) return std::string();
  Classes classes;
  classify(type, 0, classes);
  lldb::SBTarget target = frame.GetThread().GetProcess().GetTarget();
  const std::uint64_t rax = frame.FindRegister("rax").GetValueAsUnsigned();
  lldb::SBValue value;
  if (is_in_memory(type, classes, rax, first_argument)) {
    value = target.CreateValueFromAddress(kName, lldb::SBAddress(rax, target), declared);
  } else {
    auto bytes = gather(frame, type, classes);
    lldb::SBError error;
    lldb::SBData data;
    data.SetData(error, bytes.data(), bytes.size(), lldb::eByteOrderLittle, 8);
    value = target.CreateValueFromData(kName, data, declared);
  }
  if (!value.IsValid() || value.GetError().Fail()) {
    const char* why = value.GetError().GetCString();
    return fail(Fault::flamb,
                fmt::format("LLDB cannot show the returned {}: {}", declared.GetName(), why ? why : "no reason given"));
  }
  return description(value);
}

}  // namespace flamb
