// The engine program as a user runs it, in process.
#include "cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/convert.h"
#include "runtime/test_network.h"

namespace engine::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Result {
  int code;
  std::string out, err;
};

Result run(std::vector<std::string> args, const std::string& input = "", bool terminal = false) {
  std::istringstream in(input);
  std::ostringstream out, err;
  std::vector<const char*> argv{"engine"};
  for (const std::string& arg : args)
    argv.push_back(arg.c_str());
  const int code = run_cli(argv, {in, out, err, terminal});
  return {code, out.str(), err.str()};
}

std::string micro() {
  return runtime::testing::model_folder("micro").string();
}

std::string temporary_file(const std::string& name, const std::string& content) {
  (void)runtime::testing::loaded();  // keeps the folder until the process ends
  const std::filesystem::path path = std::filesystem::path(micro()).parent_path() / name;
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

TEST(Cli, HelpNamesEveryCommandAndTheExitCodes) {
  const Result result = run({"--help"});
  EXPECT_EQ(result.code, kOk);
  for (const char* command : {"run", "chat", "digest", "kv-diff", "info", "serve", "tokenize",
                              "init-model", "Exit codes"}) {
    EXPECT_THAT(result.out, HasSubstr(command));
  }
}

TEST(Cli, AWrongCommandLineIsOneErrorAndExitsWithTwo) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{},
                                               {"walk"},
                                               {"run", "--threads", "many"},
                                               {"run", "--backend", "tpu"},
                                               {"run", "--draft", "8"},
                                               {"init-model"},
                                               {"run", "--acceptance", "loose"}}) {
    const Result result = run(args);
    EXPECT_EQ(result.code, kUsage);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_FALSE(result.err.empty());
  }
}

TEST(Cli, FailuresAreOneLineAndExitWithThree) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"run", "-m", "/nonexistent", "-p", "x"}, "/nonexistent"},
      {{"run", "-m", micro()}, "no prompt"},
      {{"run", "-m", micro(), "-f", "/nonexistent.txt"}, "/nonexistent.txt: cannot be read"},
      {{"run", "-m", micro(), "-p", ""}, "the prompt is empty"},
      {{"run", "-m", micro(), "-p", "x", "--context", "5000"}, "a context of 5000"},
      {{"run", "-m", micro(), "-p", "hello", "--context", "3", "--prompt-rows", "2"},
       "the context holds 3"},
      {{"run", "-m", micro(), "-c", temporary_file("bad.json", "[{")}, "bad.json"},
      {{"run", "-m", micro(), "-p", "x", "--top-p", "0"}, "top_p 0"},
      {{"init-model", "--preset", "micro", micro()}, "not empty"},
  };
  for (const auto& [args, reason] : cases) {
    const Result result = run(args);
    EXPECT_EQ(result.code, kFailed) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith("engine: "));
  }
}

#if !ENGINE_HAS_CUDA
TEST(Cli, CudaWithoutADeviceIsAnErrorAndNeverAFallback) {
  const Result result = run({"info", "-m", micro(), "--backend", "cuda"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.err, HasSubstr("cuda"));
  EXPECT_THAT(result.out, IsEmpty());
}
#endif

// Line by line the same as `run --chat` of the whole conversation.
TEST(Chat, AJsonLineIsAnsweredByAJsonLine) {
  const std::string one = R"([{"role":"user","content":"one"}])";
  const std::string two =
      R"([{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}])";
  const std::vector<std::string> options{"-m", micro(), "-n", "6", "--json"};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), options.begin(), options.end());
    return args;
  };
  const Result chat = run(with({"chat"}), one + "\n\n" + two + "\n");
  EXPECT_EQ(chat.code, kOk);
  std::istringstream lines(chat.out);
  for (const std::string& messages : {one, two}) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const Result alone = run(with({"run", "-c", "-"}), messages);
    for (const char* part : {"text", "tokens", "finish"})
      EXPECT_EQ(nlohmann::json::parse(line)[part], nlohmann::json::parse(alone.out)[part]);
  }
}

TEST(Chat, ABadJsonLineIsAnsweredByAnErrorAndTheRestGoesOn) {
  const Result result =
      run({"chat", "-m", micro(), "-n", "2", "--json", "--context", "40", "--prompt-rows", "8"},
          "[{\"role\": 1}]\n" +
              nlohmann::json{{{"role", "user"}, {"content", std::string(90, 'x')}}}.dump() +
              "\n[{\"role\":\"user\",\"content\":\"hi\"}]\n");
  EXPECT_EQ(result.code, kFailed);
  std::istringstream lines(result.out);
  std::string line;
  for (const char* reason : {"line 1: [0].role: expected", "the context holds 40"}) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(nlohmann::json::parse(line)["error"].get<std::string>(), HasSubstr(reason));
  }
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(nlohmann::json::parse(line).contains("text"));
}

// A person's lines; the program keeps the history.
TEST(Chat, PlainLinesContinueTheConversation) {
  const Result first = run({"chat", "-m", micro(), "-n", "6", "--system", "Be brief."}, "Hello\n");
  const Result both =
      run({"chat", "-m", micro(), "-n", "6", "--system", "Be brief."}, "Hello\nAnd now?\n");
  EXPECT_EQ(both.code, kOk);
  EXPECT_THAT(both.out, ::testing::StartsWith(first.out));
  EXPECT_GT(both.out.size(), first.out.size());
  EXPECT_EQ(std::count(both.err.begin(), both.err.end(), '\n'), 2);
}

TEST(Run, StreamsTextAndPrintsStatisticsAside) {
  const Result result = run({"run", "-m", micro(), "-p", "Hello", "-n", "8", "--ignore-stop"});
  EXPECT_EQ(result.code, kOk);
  EXPECT_FALSE(result.out.empty());
  EXPECT_THAT(result.err, HasSubstr("finish=length prompt_tokens="));
  EXPECT_THAT(result.err, HasSubstr("generated_tokens=8"));
}

TEST(Run, JsonIsOneObjectARequest) {
  const Result result =
      run({"run", "-m", micro(), "-p", "one", "-p", "two", "-n", "4", "--ignore-stop", "--json"});
  EXPECT_EQ(result.code, kOk);
  EXPECT_THAT(result.err, IsEmpty());
  std::istringstream lines(result.out);
  std::size_t requests = 0;
  for (std::string line; std::getline(lines, line); ++requests) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["tokens"].size(), 4u);
    EXPECT_EQ(json["finish"], "length");
    EXPECT_GT(json["stats"]["prompt_tokens"], 0);
    EXPECT_TRUE(json["text"].is_string());
  }
  EXPECT_EQ(requests, 2u);
}

TEST(Run, TakesPromptsFromStandardInputAndChats) {
  const Result text =
      run({"run", "-m", micro(), "-f", "-", "-n", "3", "--json", "--ignore-stop"}, "from a pipe");
  EXPECT_EQ(text.code, kOk);
  const Result chat = run({"run", "-m", micro(), "-c", "-", "-n", "3", "--json", "--ignore-stop"},
                          R"([{"role": "user", "content": "hi"}])");
  EXPECT_EQ(chat.code, kOk) << chat.err;
  EXPECT_NE(nlohmann::json::parse(text.out)["stats"]["prompt_tokens"],
            nlohmann::json::parse(chat.out)["stats"]["prompt_tokens"]);
}

// The array that numpy.load reads: a padded header, then the rows as they are.
TEST(Run, WritesTheLogitsAfterEachPromptToken) {
  const std::string file = temporary_file("logits.npy", "replaced");
  const Result result =
      run({"run", "-m", micro(), "-t", "-", "-n", "0", "--logits", file}, "[72, 105, 33]");
  ASSERT_EQ(result.code, kOk) << result.err;
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string npy = bytes.str();
  EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_THAT(npy.substr(10, 118), HasSubstr("'<f4', 'fortran_order': False, 'shape': (3, 320)"));
  ASSERT_EQ(npy.size(), 128 + 3 * 320 * sizeof(float));

  runtime::Engine engine = runtime::testing::SmallEngine{}.make();
  const runtime::Reply reply = engine.run(runtime::testing::request_of({72, 105, 33}, 1));
  EXPECT_EQ(std::memcmp(npy.data() + 128 + 2 * 320 * sizeof(float), reply.logits[0].data(),
                        320 * sizeof(float)),
            0);
}

TEST(Run, LogitsThatCannotBeWrittenAreOneErrorAndLeaveNothing) {
  const std::string kept = temporary_file("kept.npy", "kept");
  const std::string folder = std::filesystem::path(kept).parent_path().string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-p", "x", "--logits", folder}, folder + ": cannot be written: it is no regular file"},
      {{"-p", "x", "--logits", "/nonexistent/l.npy"}, "/nonexistent/l.npy: cannot be written"},
      {{"-p", "x", "-p", "y", "--logits", kept}, "--logits is for one prompt, and there are 2"},
      {{"-p", "", "--logits", kept}, "the prompt is empty"},
      {{"-t", temporary_file("ids.json", "[1, 2.5]"), "--logits", kept},
       "ids.json: [1]: expected a token id, found 2.5"},
      {{"-t", temporary_file("id.json", "7")}, "id.json: expected a JSON array of token ids"},
      {{"-t", temporary_file("far.json", "[1, 320]"), "--logits", kept}, "token 1 is 320"},
  };
  for (auto [args, reason] : cases) {
    args.insert(args.begin(), {"run", "-m", micro()});
    const Result result = run(args);
    EXPECT_EQ(result.code, kFailed) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
  }
  EXPECT_FALSE(std::filesystem::exists(kept + ".tmp"));
  std::string content;
  std::getline(std::ifstream(kept), content);
  EXPECT_EQ(content, "kept");
}

TEST(Run, ShowsPrefillProgressOnATerminalOnly) {
  const std::vector<std::string> args{"run", "-m", micro(),         "-p", std::string(300, 'a'),
                                      "-n",  "1",  "--prompt-rows", "64"};
  EXPECT_THAT(run(args, "", true).err, HasSubstr("\rprefill "));
  EXPECT_THAT(run(args, "", false).err, ::testing::Not(HasSubstr("\r")));
}

TEST(Tokenize, TextsBecomeIdsAndIdsTexts) {
  EXPECT_EQ(run({"tokenize", "-m", micro(), "the cat"}).out, "{\"ids\":[116,257,264,267]}\n");
  const Result result =
      run({"tokenize", "-m", micro() + "/tokenizer.json"},
          "{\"text\": \"<|end|>\"}\n"
          "{\"text\": \"<|end|>\", \"special\": false}\n"
          "{\"ids\": [195, 317, 169, 65]}\n"
          "{\"ids\": [195, 317, 169, 65], \"special\": false, \"stream\": true}\n");
  EXPECT_EQ(result.code, kOk) << result.err;
  EXPECT_EQ(result.out,
            "{\"ids\":[317]}\n"
            "{\"ids\":[60,124,266,100,124,62]}\n"
            "{\"text\":\"\ufffd<|end|>\ufffdA\"}\n"
            "{\"text\":\"\u00e9A\",\"parts\":[\"\",\"\u00e9\",\"A\",\"\"]}\n");
}

TEST(Tokenize, ABadRequestIsNamedByItsLine) {
  for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "line 2: \"text\" is missing"},
           {"nonsense", "line 2: "},
           {R"({"ids": [1, 320]})", "line 2: ids[1]"},
           {R"({"text": "a", "prompt": true, "special": false})", "line 2: special"}}) {
    const Result result = run({"tokenize", "-m", micro()}, "{\"text\": \"\"}\n" + line + "\n");
    EXPECT_EQ(result.code, kFailed);
    EXPECT_EQ(result.out, "{\"ids\":[]}\n");
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

// As Hugging Face's library does, where tokenizer.json asks for it.
TEST(Run, PromptsBeginWithTheTokenThatBeginsASequence) {
  const std::filesystem::path folder = temporary_file("with_bos", "");
  std::filesystem::remove(folder);
  std::filesystem::copy(micro(), folder, std::filesystem::copy_options::recursive);
  const auto prompt = [&] {
    const Result result = run({"run", "-m", folder.string(), "-p", "x", "-n", "1", "--json"});
    return nlohmann::json::parse(result.out).at("stats").at("prompt_tokens").get<int>();
  };
  EXPECT_EQ(prompt(), 1);
  std::ofstream(folder / "tokenizer_config.json")
      << R"({"add_bos_token": true, "bos_token": "<|begin|>"})";
  EXPECT_EQ(prompt(), 2);
}

TEST(Digest, IsTheSameForAnyThreadCountAndDrafting) {
  const std::vector<std::string> args{"digest", "-m",       micro(), "--prompt-rows",
                                      "32",     "--tokens", "6",     "--json"};
  std::vector<std::string> one = args, two = args;
  one.insert(one.end(), {"--threads", "1"});
  two.insert(two.end(), {"--threads", "2"});
  const auto a = nlohmann::json::parse(run(one).out), b = nlohmann::json::parse(run(two).out);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a["sha256"].get<std::string>().size(), 64u);
  for (std::size_t i = 0; i + 1 < a["cases"].size(); i += 2) {
    EXPECT_EQ(a["cases"][i]["prompt_tokens"], a["cases"][i + 1]["prompt_tokens"]);
    EXPECT_EQ(a["cases"][i]["sha256"], a["cases"][i + 1]["sha256"]) << "drafting changed a bit";
  }
}

TEST(Digest, SeesAnotherTiling) {
  const auto total = [](const char* rows) {
    return nlohmann::json::parse(
        run({"digest", "-m", micro(), "--lengths", "200", "--prompt-rows", rows, "--json"})
            .out)["sha256"];
  };
  EXPECT_NE(total("64"), total("200"));
}

// Converted weights are given back as they are copied, all but the tied embedding.
TEST(Digest, IsTheSameFromWeightsOfAnotherDtype) {
  (void)runtime::testing::loaded();
  const std::filesystem::path wide = std::filesystem::path(micro()).parent_path() / "wide";
  std::filesystem::copy(micro(), wide);
  const auto file =
      model::SafetensorsFile::open(std::filesystem::path(micro()) / "model.safetensors");
  std::vector<std::vector<float>> values;
  std::vector<model::TensorSource> tensors;
  for (const model::TensorView& tensor : file.tensors())
    values.push_back(model::to_floats(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const model::TensorView& tensor = file.tensors()[i];
    tensors.push_back({tensor.name, "F32", tensor.shape, std::as_bytes(std::span(values[i]))});
  }
  model::write_safetensors(wide / "model.safetensors", tensors);
  const auto digest = [](const std::string& model) {
    const Result result = run(
        {"digest", "-m", model, "--lengths", "70", "--tokens", "6", "--backend", "cpu", "--json"});
    EXPECT_EQ(result.code, kOk) << result.err;
    return nlohmann::json::parse(result.out)["sha256"];
  };
  EXPECT_EQ(digest(wide.string()), digest(micro()));
}

TEST(Info, PrintsTheShape) {
  const auto json =
      nlohmann::json::parse(run({"info", "-m", micro(), "--json", "--backend", "cpu"}).out);
  EXPECT_EQ(json["hidden"], 64);
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_GT(json["lane_bytes"], 0);
}

TEST(Bench, AConversationGrowsFromTheShortestToTheLongestLength) {
  const Result result =
      run({"bench", "--backend", "cpu", "--small", "--layers", "1", "--lengths", "20,60", "--turns",
           "3", "--prompt-rows", "16", "--tokens", "3", "--json"});
  ASSERT_EQ(result.code, kOk) << result.err;
  const auto lines = nlohmann::json::parse(result.out)["lines"];
  ASSERT_EQ(lines.size(), 4u);
  const std::size_t tokens[] = {20, 40, 60};
  for (std::size_t turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(lines[turn]["tokens"], tokens[turn]);
    // Two of a reply's three tokens have rows; the next prompt's are computed with the new ones.
    EXPECT_EQ(lines[turn]["new"], turn == 0 ? 20 : 18);
    EXPECT_GE(lines[turn]["rows"], lines[turn]["new"]);
    EXPECT_LE(lines[turn]["rows"], lines[turn]["tokens"]);
  }
  EXPECT_TRUE(lines[3]["prefill"].is_number());  // what time tells of three turns is not sure
}

TEST(InitModel, WritesAModelThatRuns) {
  (void)runtime::testing::loaded();
  const std::string dir = (std::filesystem::path(micro()).parent_path() / "made").string();
  EXPECT_EQ(run({"init-model", "--preset", "plain", "--seed", "3", dir}).code, kOk);
  EXPECT_EQ(run({"run", "-m", dir, "-p", "x", "-n", "1"}).code, kOk);
}

}  // namespace
}  // namespace engine::cli
