#include "model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "model/tensor_store.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A file with this header; `data_bytes` of data follow.
std::string file_with(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, 'x');
}

class Safetensors : public testing::Test {
 protected:
  std::string open_error(std::string_view bytes) {
    write_bytes(file(), bytes);
    return error_of([&] { SafetensorsFile::open(file()); });
  }
  // The header is padded as the format asks, so that tensors are aligned.
  std::string header_error(std::string header, std::size_t data_bytes) {
    header.append((8 - header.size() % 8) % 8, ' ');
    return open_error(file_with(header, data_bytes));
  }
  void write(const std::filesystem::path& path, std::vector<std::string> names) {
    std::vector<TensorSource> tensors;
    for (const std::string& name : names) {
      tensors.push_back({name, "BF16", {2, 3}, std::as_bytes(std::span(six_))});
    }
    write_safetensors(path, tensors);
  }
  std::filesystem::path file() const { return dir_ / "model.safetensors"; }

  TempFolder dir_;
  std::uint16_t six_[6] = {1, 2, 3, 4, 5, 6};
};

TEST_F(Safetensors, WritesAndReadsBack) {
  const std::uint8_t byte[1] = {42};
  const std::vector<TensorSource> tensors = {{"b", "BF16", {2, 3}, std::as_bytes(std::span(six_))},
                                             {"a", "U8", {}, std::as_bytes(std::span(byte))},
                                             {"none", "F32", {0, 7}, {}}};
  write_safetensors(file(), tensors);
  const SafetensorsFile read = SafetensorsFile::open(file());
  ASSERT_EQ(read.tensors().size(), 3U);
  const TensorView& b = read.tensors()[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.dtype, "BF16");
  EXPECT_THAT(b.shape, ElementsAre(2, 3));
  EXPECT_EQ(std::memcmp(b.data.data(), six_, sizeof six_), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data.data()) % 64, 0U);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "model.safetensors.tmp"));
}

TEST_F(Safetensors, SurvivesAMove) {
  write(file(), {"t"});
  SafetensorsFile first = SafetensorsFile::open(file());
  const std::byte* const data = first.tensors()[0].data.data();
  const SafetensorsFile second = std::move(first);
  EXPECT_EQ(second.tensors()[0].data.data(), data);
  EXPECT_EQ(std::memcmp(data, six_, sizeof six_), 0);
}

TEST_F(Safetensors, WriterChecksSizesAndReportsTheDisk) {
  const std::vector<TensorSource> wrong = {{"t", "BF16", {5}, std::as_bytes(std::span(six_))}};
  EXPECT_THAT(error_of([&] { write_safetensors(file(), wrong); }),
              HasSubstr("t: expected 10 bytes, found 12"));
  EXPECT_THAT(error_of([&] { write(dir_ / "no/such/folder", {"t"}); }), HasSubstr("cannot be"));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  write(file(), {"first", "second"});
  const std::string whole = read_bytes(file());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(open_error(whole.substr(0, length)), StartsWith(file().string() + ": ")) << length;
  }
  EXPECT_EQ(open_error(whole), "no error");
  EXPECT_THAT(open_error(whole + "x"), HasSubstr("1 bytes after the last tensor belong to none"));
}

// Whatever the damage, it opens or throws the one error; and what opens can be read.
TEST_F(Safetensors, DamagedHeadersNeverCrash) {
  write(file(), {"first", "second"});
  const std::string whole = read_bytes(file());
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    damaged[random() % (whole.size() - 24)] = static_cast<char>(random());
    const std::string message = open_error(damaged);
    if (message == "no error") {
      const SafetensorsFile opened = SafetensorsFile::open(file());
      for (const TensorView& tensor : opened.tensors()) {
        EXPECT_LE(tensor.data.size(), 24U);
      }
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(Safetensors, RefusesImpossibleHeaderLengths) {
  std::string bytes(64, '\xff');
  EXPECT_THAT(open_error(bytes), HasSubstr("header of 18446744073709551615 bytes"));
  bytes.replace(0, 8, std::string("\x40\x42\x0f\0\0\0\0\0", 8));
  EXPECT_THAT(open_error(bytes), HasSubstr("header of 1000000 bytes, but only 56 follow"));
}

TEST_F(Safetensors, RefusesOverlapsAndGaps) {
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
                               "b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
                           7),
              HasSubstr("b overlaps the tensor before it"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
                               "b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                           4),
              HasSubstr("overlaps"));
  EXPECT_THAT(header_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6),
              HasSubstr("2 bytes before a belong to no tensor"));
  EXPECT_THAT(header_error("{}", 3), HasSubstr("3 bytes after the last tensor"));
}

TEST_F(Safetensors, RefusesBadEntries) {
  const auto entry_error = [&](const std::string& entry) {
    return header_error("{\"t\":" + entry + "}", 8);
  };
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[3],"data_offsets":[0,8]})"),
              HasSubstr("t: expected 6 bytes for BF16 [3], found 8"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF17","shape":[4],"data_offsets":[0,8]})"),
              HasSubstr("t.dtype: expected a dtype"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4],"data_offsets":[0,9]})"),
              HasSubstr("t.data_offsets[1]: expected an integer from 0 to 8, found 9"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4],"data_offsets":[9,8]})"),
              HasSubstr("t.data_offsets[0]"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4],"data_offsets":[0]})"),
              HasSubstr("[begin, end]"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4],"data_offsets":[-1,8]})"),
              HasSubstr("found -1"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[2.0,2],"data_offsets":[0,8]})"),
              HasSubstr("t.shape[0]"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":4,"data_offsets":[0,8]})"),
              HasSubstr("t.shape: expected an array"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4]})"), HasSubstr("is missing"));
  EXPECT_THAT(entry_error(R"({"dtype":"BF16","shape":[4],"data_offsets":[0,8],"x":1})"),
              HasSubstr("unknown key \"x\""));
  EXPECT_THAT(entry_error("null"), HasSubstr("expected an object"));
  EXPECT_THAT(entry_error(R"({"dtype":"U8","shape":[1,1,1,1,1,1,1,1,8],"data_offsets":[0,8]})"),
              HasSubstr("9 dimensions"));
}

TEST_F(Safetensors, RefusesSizesThatOverflow) {
  EXPECT_THAT(header_error(R"({"t":{"dtype":"BF16","shape":[9223372036854775808,2],
                                    "data_offsets":[0,0]}})",
                           0),
              HasSubstr("is too large"));
  EXPECT_THAT(header_error(R"({"t":{"dtype":"BF16","shape":[18446744073709551616],
                                    "data_offsets":[0,0]}})",
                           0),
              HasSubstr("t.shape[0]"));
}

TEST_F(Safetensors, RefusesMisalignedData) {
  const std::string odd = R"({"t":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})";
  ASSERT_EQ(odd.size() % 2, 1U);
  EXPECT_THAT(open_error(file_with(odd, 2)), HasSubstr("not aligned for BF16"));
  EXPECT_EQ(open_error(file_with(odd + " ", 2)), "no error");
}

TEST_F(Safetensors, RefusesBadHeaders) {
  EXPECT_THAT(header_error("[]", 0), HasSubstr("expected an object"));
  EXPECT_THAT(header_error("{\"a\":", 0), HasSubstr("parse error"));
  EXPECT_THAT(header_error(R"({"a":[[[[[1]]]]]})", 0), HasSubstr("nested deeper"));
  EXPECT_THAT(header_error(R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0),
              HasSubstr("name has 0 bytes"));
  EXPECT_THAT(header_error("{\"\xff\":1}", 0), HasSubstr("invalid"));
  const std::string entry = R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(header_error("{" + entry + "," + entry + "}", 0), HasSubstr("\"t\" occurs twice"));
  EXPECT_THAT(header_error(R"({"__metadata__":{"format":1}})", 0),
              HasSubstr("__metadata__.format"));
  EXPECT_EQ(header_error(R"({"__metadata__":{"format":"pt"}})", 0), "no error");
}

TEST_F(Safetensors, RefusesWhatIsNoFile) {
  EXPECT_THAT(error_of([&] { SafetensorsFile::open(file()); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { SafetensorsFile::open(dir_.path()); }),
              HasSubstr("not a regular file"));
}

class Shards : public Safetensors {
 protected:
  void SetUp() override {
    write(dir_ / "part-1.safetensors", {"a", "b"});
    write(dir_ / "part-2.safetensors", {"c"});
  }
  std::string index_error(const std::string& map) {
    write_bytes(dir_ / "model.safetensors.index.json", "{\"weight_map\":" + map + "}");
    return error_of([&] { TensorStore::open(dir_.path()); });
  }
};

TEST_F(Shards, AreFoundByTheIndex) {
  EXPECT_EQ(index_error(R"({"a":"part-1.safetensors","b":"part-1.safetensors",
                            "c":"part-2.safetensors"})"),
            "no error");
  const TensorStore store = TensorStore::open(dir_.path());
  EXPECT_EQ(store.tensors().size(), 3U);
  ASSERT_NE(store.find("c"), nullptr);
  EXPECT_EQ(store.find("c")->name, "c");
  EXPECT_EQ(store.find("d"), nullptr);
  EXPECT_EQ(store.find(""), nullptr);
}

TEST_F(Shards, MustAgreeWithTheIndex) {
  EXPECT_THAT(index_error(R"({"a":"part-1.safetensors","c":"part-2.safetensors"})"),
              HasSubstr("part-1.safetensors holds b, which the index does not say"));
  EXPECT_THAT(index_error(R"({"a":"part-1.safetensors","b":"part-1.safetensors",
                              "d":"part-2.safetensors"})"),
              HasSubstr("d is said to be in part-2.safetensors, which lacks it"));
  EXPECT_THAT(index_error(R"({"a":"../part-1.safetensors"})"), HasSubstr("without a folder"));
  EXPECT_THAT(index_error(R"({"a":"part-9.safetensors"})"), HasSubstr("No such file"));
  // One tensor in two shards.
  write(dir_ / "part-2.safetensors", {"b", "c"});
  EXPECT_THAT(index_error(R"({"a":"part-1.safetensors","b":"part-1.safetensors",
                              "c":"part-2.safetensors"})"),
              HasSubstr("part-2.safetensors holds b, which the index does not say"));
  std::filesystem::resize_file(dir_ / "part-2.safetensors",
                               std::filesystem::file_size(dir_ / "part-2.safetensors") - 1);
  EXPECT_THAT(index_error(R"({"a":"part-1.safetensors","b":"part-1.safetensors",
                              "c":"part-2.safetensors"})"),
              HasSubstr("part-2.safetensors: "));
  EXPECT_THAT(index_error("{}"), HasSubstr("names no tensor"));
  EXPECT_THAT(index_error("3"), HasSubstr("weight_map: expected an object"));
}

}  // namespace
}  // namespace engine::model
