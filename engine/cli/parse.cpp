#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <map>
#include <ostream>

#include "model/init_model.h"

namespace engine::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 kv-diff found a difference; 2 wrong command line; 3 model, request, "
    "settings\n"
    "or backend failed (one line on standard error says what).";

constexpr const char* kTokenizeFooter =
    "A request is one line of JSON, and so is its answer:\n"
    "  {\"text\": TEXT}        {\"ids\": [...]}; also: \"special\": false, special tokens' text is "
    "text;\n"
    "                        \"prompt\": true, with the tokens that begin and end a sequence\n"
    "  {\"ids\": [...]}        {\"text\": TEXT}; also: \"special\": false, special tokens give no "
    "text;\n"
    "                        \"stream\": true, \"parts\" are what each token completes";

void add_engine_options(CLI::App& app, EngineSettings& settings) {
  app.add_option("-m,--model", settings.model,
                 "Model folder (config.json, model.safetensors, tokenizer.json)")
      ->default_str("the built-in model");
  app.add_option("--backend", settings.backend, "cpu, cuda, or auto: cuda where a device is there")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  app.add_option("--threads", settings.threads,
                 "CPU worker threads; 0: one per core. Never changes a bit")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--prompt-rows", settings.engine.prompt_rows, "Largest prefill chunk, in tokens")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--context", settings.context, "KV rows: prompt and reply together")
      ->check(CLI::Range(1, 1 << 24))
      ->default_str("the model's, at most 4096");
  app.add_option("--ring-rows", settings.engine.ring_rows,
                 "The drafter's KV ring; 0: room for a 1024-token reply")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  app.add_flag("--row-invariant", settings.row_invariant,
               "Control mode: one tiling for every row count (other bits than the default)");
  app.add_flag("-v,--verbose", settings.verbose, "Say what the engine sets up");
}

void add_drafting_options(CLI::App& app, runtime::GenerateParams& params) {
  app.add_option("--draft", params.draft_tokens, "Drafted tokens a launch; 0: no drafting")
      ->check(CLI::Range(0, 7))
      ->capture_default_str();
  const std::map<std::string, runtime::Acceptance> acceptances{
      {"strict", runtime::Acceptance::kStrict}, {"top2", runtime::Acceptance::kTop2}};
  app.add_option(
         "--acceptance", params.acceptance,
         "strict: the reply is that of no drafting; top2: a draft among the two best is taken")
      ->transform(CLI::CheckedTransformer(acceptances))
      ->default_str("strict");
}

void add_sampling_options(CLI::App& app, runtime::GenerateParams& params, int least_tokens) {
  app.add_option("-n,--max-tokens", params.max_tokens, "Longest reply, in tokens")
      ->check(CLI::Range(least_tokens, 1 << 24))
      ->capture_default_str();
  app.add_option("--temperature", params.sampling.temperature, "0: greedy")->capture_default_str();
  app.add_option("--top-k", params.sampling.top_k, "Sample among the k likeliest; 0: all")
      ->capture_default_str();
  app.add_option("--top-p", params.sampling.top_p, "Sample within this probability")
      ->capture_default_str();
  app.add_option("--seed", params.sampling.seed, "Of the sampling")->capture_default_str();
  add_drafting_options(app, params);
}

// Several prompts keep the order of the command line: they are turns on one lane.
void add_prompt_options(CLI::App& app, std::vector<PromptSource>& prompts) {
  const auto add = [&](const char* name, PromptSource::Kind kind, const char* help) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [&prompts, kind](const std::vector<std::string>& values) {
             for (const std::string& value : values)
               prompts.push_back({kind, value});
           },
           help)
        ->trigger_on_parse()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  add("-p,--prompt", PromptSource::Kind::kText,
      "A prompt; may be given again: the next request on the lane");
  add("-f,--prompt-file", PromptSource::Kind::kTextFile, "A prompt from a file; -: standard input");
  add("-c,--chat", PromptSource::Kind::kChatFile,
      "Chat messages, [{\"role\",\"content\"}...], from a file; -: standard input");
  add("-t,--tokens", PromptSource::Kind::kTokenFile,
      "Token ids, [1,2,3...], from a file; -: standard input");
}

void add_time(CLI::App& app, const char* name, std::chrono::milliseconds& time, const char* help) {
  app.add_option_function<double>(
         name,
         [&time](double seconds) {
           time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
         },
         help)
      ->check(CLI::Range(0.001, 1e6))
      ->default_str(std::to_string(time.count() / 1000));
}

struct Parser {
  CLI::App app{"A reference LLM engine that computes the same bits on CPU and GPU.", "engine"};
  RunSettings run;
  ChatSettings chat;
  DigestSettings digest;
  KvDiffSettings kv_diff;
  InfoSettings info;
  BenchSettings bench;
  ServeSettings serve;
  TokenizeSettings tokenize;
  InitModelSettings init_model;

  Parser() {
    app.require_subcommand(1);
    app.footer(kFooter);
    define_run();
    define_chat();
    define_digest();
    define_kv_diff();
    CLI::App* info_app =
        app.add_subcommand("info", "Print the model's shape, the backend and a lane's memory");
    add_engine_options(*info_app, info.engine);
    info_app->add_flag("--json", info.json, "Print JSON");
    define_bench();
    define_serve();
    define_tokenize();
    define_init_model();
  }

  void define_run() {
    CLI::App* sub =
        app.add_subcommand("run", "Generate from prompts or a chat; text on standard output");
    add_engine_options(*sub, run.engine);
    add_prompt_options(*sub, run.prompts);
    add_sampling_options(*sub, run.params, 0);
    sub->add_option("--logits", run.logits,
                    "Write the logits after each token of the one prompt to this file, in NumPy's\n"
                    ".npy format: float32 [prompt tokens, vocabulary]");
    sub->add_flag("--ignore-stop", run.ignore_stop, "Go on after a stop token");
    sub->add_flag("--json", run.json,
                  "Print one JSON object a request, with statistics, instead of text");
  }

  void define_chat() {
    CLI::App* sub = app.add_subcommand(
        "chat", "Hold a conversation: one user message a line of standard input, one reply each");
    add_engine_options(*sub, chat.engine);
    sub->add_option("--system", chat.system, "The system message");
    add_sampling_options(*sub, chat.params, 1);
    sub->add_flag("--json", chat.json,
                  "A line is the whole conversation so far, [{\"role\",\"content\"}...], and is "
                  "answered by one\nJSON object: text, tokens, finish and stats, or error");
  }

  void define_digest() {
    CLI::App* sub = app.add_subcommand(
        "digest", "Print the sha256 over tokens, logits and KV rows of a fixed set of prompts");
    add_engine_options(*sub, digest.engine);
    sub->add_option("--lengths", digest.lengths, "Prompt lengths")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 24))
        ->default_str("around every tiling switch");
    sub->add_option("--tokens", digest.tokens, "Tokens generated after each prompt")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    sub->add_flag("--json", digest.json, "Print JSON");
  }

  void define_kv_diff() {
    CLI::App* sub = app.add_subcommand("kv-diff",
                                       "Run a second turn after a first and, on a fresh lane, "
                                       "alone; name the first KV row that differs");
    add_engine_options(*sub, kv_diff.engine);
    sub->add_option("--text", kv_diff.text, "Text that the prompts are cut from")
        ->default_str("a built-in sample");
    const CLI::Range length(0, 1 << 24);
    sub->add_option("--first-tokens", kv_diff.first_tokens, "Turn 1's prompt; 0: prompt_rows + 100")
        ->check(length);
    sub->add_option("--reply-tokens", kv_diff.reply_tokens, "Generated in each turn")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    sub->add_option("--suffix-tokens", kv_diff.suffix_tokens, "New in turn 2; 0: prompt_rows / 4")
        ->check(length);
    sub->add_option("--draft", kv_diff.draft_tokens, "Drafted tokens a launch; 0: no drafting")
        ->check(CLI::Range(0, 7))
        ->capture_default_str();
    sub->add_flag("--json", kv_diff.json, "Print JSON");
  }

  void define_bench() {
    CLI::App* sub = app.add_subcommand(
        "bench", "Time a random model of Llama-3-8B's shape: prefill, decode, each operation");
    sub->add_option("--backend", bench.backend, "cpu, cuda, or auto: cuda where a device is there")
        ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
        ->capture_default_str();
    const CLI::Range count(1, 1 << 14);
    sub->add_option("--lengths", bench.bench.lengths, "Prompt lengths")
        ->delimiter(',')
        ->check(CLI::Range(1, 30000))
        ->capture_default_str();
    sub->add_option("--prompt-rows", bench.bench.prompt_rows, "Chunk sizes to try, in tokens")
        ->delimiter(',')
        ->check(count)
        ->capture_default_str();
    sub->add_option("--turns", bench.bench.turns,
                    "Instead of the rest, hold a conversation of this many turns whose prompt\n"
                    "grows evenly from the shortest to the longest of the lengths")
        ->check(CLI::Range(2, 1000));
    sub->add_option("--tokens", bench.bench.tokens, "Tokens generated after each prompt")
        ->check(CLI::Range(2, 1024))
        ->capture_default_str();
    sub->add_option("--layers", bench.layers, "Decoder layers")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    sub->add_flag("--row-invariant", bench.row_invariant,
                  "Control mode: what kernels that give every row count one tiling cost");
    sub->add_flag("--small", bench.small, "Divide every size by 16: a quick look, not a benchmark");
    sub->add_flag("--json", bench.json, "Print JSON");
  }

  void define_serve() {
    CLI::App* sub = app.add_subcommand(
        "serve", "Serve one lane over HTTP, with OpenAI's endpoints, until SIGTERM or SIGINT");
    serve.engine.engine.prompt_rows = 0;
    add_engine_options(*sub, serve.engine);
    sub->get_option("--prompt-rows")->default_str("64 below 1 GiB of weights, else 512");
    add_drafting_options(*sub, serve.params);
    lane::ServerOptions& server = serve.server;
    sub->add_option("--host", server.host, "Address to listen on; the default is this machine only")
        ->capture_default_str();
    sub->add_option("--port", server.port, "0: any free one; the first line printed names it")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    sub->add_option("--tool-format", serve.tool_format,
                    "Notation of tool calls: json, llama3, mistral, glm or deepseek; the model's "
                    "template says which if it is not given");
    sub->add_option("--name", serve.name, "The model's name for clients")
        ->default_str("the model folder's");
    sub->add_option("--alias", serve.aliases,
                    "Another name for clients; may be given several times");
    sub->add_option("--api-key-file", serve.api_key_file,
                    "Ask clients for the key that this file holds")
        ->default_str("no key");
    sub->add_option("--connections", server.connections, "Served at once")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    sub->add_option("--body-bytes", server.body_bytes, "Longest body of a request")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    sub->add_option("--queue", serve.limits.queue.waiting,
                    "Requests that may wait for the lane; further ones get a 429")
        ->check(CLI::Range(0, 1 << 20))
        ->capture_default_str();
    add_time(*sub, "--queue-seconds", serve.limits.queue.wait, "Longest wait for the lane");
    add_time(*sub, "--request-seconds", serve.limits.request, "Longest generation");
    add_time(*sub, "--read-seconds", server.read, "Longest time to receive a request");
    add_time(*sub, "--write-seconds", server.write, "A client that takes nothing so long is gone");
    add_time(*sub, "--grace-seconds", serve.grace, "For the running request at the end");
    add_time(*sub, "--keep-alive-seconds", server.keep_alive,
             "Longest wait for a connection's next request");
    sub->add_option("--cors-origin", server.cors_origin,
                    "Let pages of this origin ask, in browsers; *: of any")
        ->default_str("none");
    sub->add_flag("--log-prompts", server.log_prompts, "Put prompts into the log");
  }

  void define_tokenize() {
    CLI::App* sub = app.add_subcommand(
        "tokenize", "Print the token ids of texts, or the text of token ids, as lines of JSON");
    sub->add_option("-m,--model", tokenize.model, "Model folder, or a tokenizer.json alone")
        ->default_str("the built-in model");
    sub->add_option("text", tokenize.texts, "Texts, each as a whole prompt")
        ->default_str("requests from standard input");
    sub->footer(kTokenizeFooter);
  }

  void define_init_model() {
    CLI::App* sub =
        app.add_subcommand("init-model", "Write a random model, the same on every machine");
    std::vector<std::string> presets;
    for (const std::string_view preset : model::preset_names())
      presets.emplace_back(preset);
    sub->add_option("--preset", init_model.preset, "Its shape")
        ->check(CLI::IsMember(presets))
        ->capture_default_str();
    sub->add_option("--seed", init_model.seed, "Of its weights")->capture_default_str();
    sub->add_flag("--force", init_model.force, "Replace a folder that is not empty");
    sub->add_option("directory", init_model.directory, "Folder to make")->required();
  }

  Command command() const {
    const std::string name = app.get_subcommands().front()->get_name();
    if (name == "run") return run;
    if (name == "chat") return chat;
    if (name == "digest") return digest;
    if (name == "kv-diff") return kv_diff;
    if (name == "info") return info;
    if (name == "bench") return bench;
    if (name == "serve") return serve;
    if (name == "tokenize") return tokenize;
    return init_model;
  }
};

}  // namespace

std::variant<Command, int> parse_command_line(std::span<const char* const> args,
                                              const Streams& streams) {
  Parser parser;
  try {
    parser.app.parse(static_cast<int>(args.size()), args.data());
    return parser.command();
  } catch (const CLI::ParseError& error) {
    const int code = parser.app.exit(error, streams.out, streams.err);
    return code == 0 ? kOk : kUsage;
  }
}

}  // namespace engine::cli
