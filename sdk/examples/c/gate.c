// A gate in C: a push that overwrites what others pushed is a person's decision.
//
// `gate.h` comes from the contract: see the Makefile. Every answer is freed after it was read, so texts are duplicated.

#include "gate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VERDICT(name) EXPORTS_CAPSTAN_EXTENSION_BEFORE_TOOL_CALL_VERDICT_##name

// Whether the text stands somewhere in the arguments, which are JSON. A gate that has to be sure reads the JSON; this one only has to
// ask once too often rather than once too rarely.
static bool holds(const gate_string_t *text, const char *part) {
  size_t length = strlen(part);
  for (size_t at = 0; at + length <= text->len; at++) {
    if (memcmp(text->ptr + at, part, length) == 0) {
      return true;
    }
  }
  return false;
}

void exports_capstan_extension_before_tool_call_run(
    exports_capstan_extension_before_tool_call_turn_context_t *context,
    exports_capstan_extension_before_tool_call_tool_call_t *call,
    exports_capstan_extension_before_tool_call_verdict_t *verdict) {
  verdict->tag = VERDICT(PASS);
  if (holds(&call->arguments, "git push") &&
      (holds(&call->arguments, "--force") || holds(&call->arguments, " -f"))) {
    verdict->tag = VERDICT(ASK);
    gate_string_dup(&verdict->val.ask, "Overwrite what others have pushed?");
  }
  exports_capstan_extension_before_tool_call_turn_context_free(context);
  exports_capstan_extension_before_tool_call_tool_call_free(call);
}

void exports_capstan_extension_extension_describe(exports_capstan_extension_extension_descriptor_t *descriptor) {
  memset(descriptor, 0, sizeof *descriptor);
  gate_string_dup(&descriptor->id, "push-gate");
  gate_string_dup(&descriptor->version, "0.1.0");
  gate_string_dup(&descriptor->summary, "Asks before a forced push.");
  exports_capstan_extension_extension_hook_t *hook = calloc(1, sizeof *hook);
  gate_string_t *tools = calloc(1, sizeof *tools);
  if (hook == NULL || tools == NULL) {
    // The host takes a trap for a file that is no extension.
    abort();
  }
  gate_string_dup(tools, "bash");
  hook->stage = EXPORTS_CAPSTAN_EXTENSION_EXTENSION_STAGE_BEFORE_TOOL_CALL;
  hook->tools.ptr = tools;
  hook->tools.len = 1;
  hook->on_failure = EXPORTS_CAPSTAN_EXTENSION_EXTENSION_FAILURE_RULE_STANDARD;
  descriptor->hooks.ptr = hook;
  descriptor->hooks.len = 1;
  descriptor->lifetime = EXPORTS_CAPSTAN_EXTENSION_EXTENSION_LIFETIME_CALL;
}
