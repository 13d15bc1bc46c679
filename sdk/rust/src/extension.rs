//! The macro that turns functions into a component.

/// Declares the extension: what it is, what it asks for, and which functions play which part.
///
/// Fields, all optional, in any order:
///
/// | field | value |
/// |---|---|
/// | `id`, `version` | text; without them the package's name and version |
/// | `summary` | one line for lists |
/// | `requests` | `[Request::read_directory(".", "why"), …]` |
/// | `config` | [`config::schema::<T>()`](crate::config::schema) |
/// | `lifetime` | [`Lifetime`](crate::Lifetime) |
/// | `tools` | [`[tool("name", function), …]`](crate::tool()) |
/// | `tool_arguments` | `fn(tool: &str, arguments: serde_json::Value) -> Result<serde_json::Value>` |
/// | `before_turn` | [`hook(f)`](crate::hook()), `fn(Message, &Context) -> BeforeTurn` |
/// | `before_model` | `hook(f)`, `fn(Vec<Message>, &Context) -> BeforeModel` |
/// | `after_model` | `hook(f)`, `fn(ModelResponse, &Context) -> AfterModel` |
/// | `model_error` | `hook(f)`, `fn(&Failure, &Context)` |
/// | `before_tool_call` | `hook(f)`, `fn(&ToolCall, &Context) -> Verdict` |
/// | `after_tool_call` | `hook(f)`, `fn(&ToolCall, ToolResult, &Context) -> Option<Amendment>` |
/// | `tool_error` | `hook(f)`, `fn(&ToolCall, &Failure, &Context)` |
/// | `after_turn` | `hook(f)`, `fn(&Message, &[ToolResult], &Context)` |
/// | `turn_error` | `hook(f)`, `fn(&Failure, &Context)` |
/// | `plan_step` | `hook(f)`, `fn(step: u32, &StepStatus, &Context)` |
/// | `session_lifecycle` | `hook(f)`, `fn(session: &str, SessionEvent)` |
/// | `observer` | `fn(event: &str)`; the event is JSON, a line of `capstan --mode json` or one of the turn's own |
/// | `plan_parsers` | [`[plan_parser("name", f), …]`](crate::plan_parser) |
/// | `compressors` | [`[compressor("name", f), …]`](crate::compressor) |
/// | `memory` | a value that implements [`Memory`](crate::Memory) |
/// | `commands` | [`[command("name", "what it does", f), …]`](crate::command) |
///
/// Every function may answer `Result<…>` in place of its plain answer. The component exports exactly the interfaces
/// whose fields are there.
///
/// The macro defines a type `Extension` in the place where it stands; [`testing`](crate::testing) takes it.
#[macro_export]
macro_rules! extension {
    ($($field:ident : $value:expr),* $(,)?) => {
        /// The extension of this crate, as the host sees it.
        #[derive(Debug, Clone, Copy)]
        #[allow(dead_code, reason = "only its functions are used, by the host and by tests")]
        pub(crate) struct Extension;

        const _: () = {
            impl $crate::__private::exports::extension::Guest for Extension {
                fn describe() -> $crate::Descriptor {
                    $crate::__private::enter();
                    #[allow(unused_mut, reason = "an extension without fields is allowed")]
                    let mut builder = $crate::__private::Builder::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
                    $($crate::__describe!(builder, $field, $value);)*
                    builder.finish()
                }
            }
            $crate::__export!(
                extension, EXTENSION, "component-type:capstan:extension",
                __export_capstan_extension_extension_0_1_0_cabi
            );
            $($crate::__implement!($field, $value);)*
        };
    };
}

/// Adds one field of `extension!` to the descriptor.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    ($builder:ident, before_turn, $hook:expr) => {
        $builder.hook($crate::Stage::BeforeTurn, &$hook)
    };
    ($builder:ident, before_model, $hook:expr) => {
        $builder.hook($crate::Stage::BeforeModel, &$hook)
    };
    ($builder:ident, after_model, $hook:expr) => {
        $builder.hook($crate::Stage::AfterModel, &$hook)
    };
    ($builder:ident, model_error, $hook:expr) => {
        $builder.hook($crate::Stage::ModelError, &$hook)
    };
    ($builder:ident, before_tool_call, $hook:expr) => {
        $builder.hook($crate::Stage::BeforeToolCall, &$hook)
    };
    ($builder:ident, after_tool_call, $hook:expr) => {
        $builder.hook($crate::Stage::AfterToolCall, &$hook)
    };
    ($builder:ident, tool_error, $hook:expr) => {
        $builder.hook($crate::Stage::ToolError, &$hook)
    };
    ($builder:ident, after_turn, $hook:expr) => {
        $builder.hook($crate::Stage::AfterTurn, &$hook)
    };
    ($builder:ident, turn_error, $hook:expr) => {
        $builder.hook($crate::Stage::TurnError, &$hook)
    };
    ($builder:ident, plan_step, $hook:expr) => {
        $builder.hook($crate::Stage::PlanStep, &$hook)
    };
    ($builder:ident, session_lifecycle, $hook:expr) => {
        $builder.hook($crate::Stage::SessionLifecycle, &$hook)
    };
    // Nothing to say about these beyond that they are exported.
    ($builder:ident, tool_arguments, $value:expr) => {};
    ($builder:ident, observer, $value:expr) => {};
    ($builder:ident, memory, $value:expr) => {};
    ($builder:ident, $field:ident, $value:expr) => {
        $builder.$field($value)
    };
}

/// Exports the interface that one field of `extension!` stands for, if any.
#[doc(hidden)]
#[macro_export]
macro_rules! __implement {
    (tools, $tools:expr) => {
        impl $crate::__private::exports::tools::Guest for Extension {
            fn call(
                context: $crate::types::TurnContext,
                call: $crate::types::ToolCall,
            ) -> ::std::result::Result<$crate::types::ToolResult, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::call_tool($tools, context, call)
            }
        }
        $crate::__export!(
            tools, TOOLS, "component-type:capstan:tools", __export_capstan_extension_tools_0_1_0_cabi
        );
    };
    (tool_arguments, $function:expr) => {
        impl $crate::__private::exports::tool_arguments::Guest for Extension {
            fn prepare(
                tool: ::std::string::String,
                arguments: ::std::string::String,
            ) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::tool_arguments($function, &tool, &arguments)
            }
        }
        $crate::__export!(
            tool_arguments, TOOL_ARGUMENTS, "component-type:capstan:tool-arguments",
            __export_capstan_extension_tool_arguments_0_1_0_cabi
        );
    };
    (before_turn, $hook:expr) => {
        $crate::__hook!(
            before_turn($hook, context: $crate::types::TurnContext, input: $crate::types::Message)
                -> $crate::BeforeTurn,
            BEFORE_TURN, "component-type:capstan:before-turn",
            __export_capstan_extension_before_turn_0_1_0_cabi
        );
    };
    (before_model, $hook:expr) => {
        $crate::__hook!(
            before_model(
                $hook, context: $crate::types::TurnContext, messages: ::std::vec::Vec<$crate::types::Message>
            ) -> $crate::BeforeModel,
            BEFORE_MODEL, "component-type:capstan:before-model",
            __export_capstan_extension_before_model_0_1_0_cabi
        );
    };
    (after_model, $hook:expr) => {
        $crate::__hook!(
            after_model($hook, context: $crate::types::TurnContext, response: $crate::types::ModelResponse)
                -> $crate::AfterModel,
            AFTER_MODEL, "component-type:capstan:after-model",
            __export_capstan_extension_after_model_0_1_0_cabi
        );
    };
    (model_error, $hook:expr) => {
        $crate::__hook!(
            model_error($hook, context: $crate::types::TurnContext, failure: $crate::types::Failure) -> (),
            MODEL_ERROR, "component-type:capstan:model-error",
            __export_capstan_extension_model_error_0_1_0_cabi
        );
    };
    (before_tool_call, $hook:expr) => {
        $crate::__hook!(
            before_tool_call($hook, context: $crate::types::TurnContext, call: $crate::types::ToolCall)
                -> $crate::Verdict,
            BEFORE_TOOL_CALL, "component-type:capstan:before-tool-call",
            __export_capstan_extension_before_tool_call_0_1_0_cabi
        );
    };
    (after_tool_call, $hook:expr) => {
        $crate::__hook!(
            after_tool_call(
                $hook, context: $crate::types::TurnContext, call: $crate::types::ToolCall,
                outcome: $crate::types::ToolResult
            ) -> ::std::option::Option<$crate::Amendment>,
            AFTER_TOOL_CALL, "component-type:capstan:after-tool-call",
            __export_capstan_extension_after_tool_call_0_1_0_cabi
        );
    };
    (tool_error, $hook:expr) => {
        $crate::__hook!(
            tool_error(
                $hook, context: $crate::types::TurnContext, call: $crate::types::ToolCall,
                failure: $crate::types::Failure
            ) -> (),
            TOOL_ERROR, "component-type:capstan:tool-error",
            __export_capstan_extension_tool_error_0_1_0_cabi
        );
    };
    (after_turn, $hook:expr) => {
        $crate::__hook!(
            after_turn(
                $hook, context: $crate::types::TurnContext, answer: $crate::types::Message,
                results: ::std::vec::Vec<$crate::types::ToolResult>
            ) -> (),
            AFTER_TURN, "component-type:capstan:after-turn",
            __export_capstan_extension_after_turn_0_1_0_cabi
        );
    };
    (turn_error, $hook:expr) => {
        $crate::__hook!(
            turn_error($hook, context: $crate::types::TurnContext, failure: $crate::types::Failure) -> (),
            TURN_ERROR, "component-type:capstan:turn-error",
            __export_capstan_extension_turn_error_0_1_0_cabi
        );
    };
    (plan_step, $hook:expr) => {
        $crate::__hook!(
            plan_step($hook, context: $crate::types::TurnContext, step: u32, status: $crate::StepStatus) -> (),
            PLAN_STEP, "component-type:capstan:plan-step",
            __export_capstan_extension_plan_step_0_1_0_cabi
        );
    };
    (session_lifecycle, $hook:expr) => {
        $crate::__hook!(
            session_lifecycle($hook, session_id: ::std::string::String, event: $crate::SessionEvent) -> (),
            SESSION_LIFECYCLE, "component-type:capstan:session-lifecycle",
            __export_capstan_extension_session_lifecycle_0_1_0_cabi
        );
    };
    (observer, $function:expr) => {
        $crate::__hook!(
            observer($function, event: ::std::string::String) -> (),
            OBSERVER, "component-type:capstan:observer",
            __export_capstan_extension_observer_0_1_0_cabi
        );
    };
    (plan_parsers, $parsers:expr) => {
        impl $crate::__private::exports::plan_parser::Guest for Extension {
            fn parse(
                parser: ::std::string::String,
                raw: ::std::string::String,
                goal: ::std::string::String,
            ) -> ::std::result::Result<$crate::Plan, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::parse_plan($parsers, &parser, &raw, &goal)
            }
        }
        $crate::__export!(
            plan_parser, PLAN_PARSER, "component-type:capstan:plan-parser",
            __export_capstan_extension_plan_parser_0_1_0_cabi
        );
    };
    (compressors, $compressors:expr) => {
        impl $crate::__private::exports::compressor::Guest for Extension {
            fn compress(
                compressor: ::std::string::String,
                messages: ::std::vec::Vec<$crate::types::Message>,
                context: $crate::Compaction,
            ) -> ::std::result::Result<$crate::Action, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::compress($compressors, &compressor, messages, &context)
            }
        }
        $crate::__export!(
            compressor, COMPRESSOR, "component-type:capstan:compressor",
            __export_capstan_extension_compressor_0_1_0_cabi
        );
    };
    (memory, $memory:expr) => {
        impl $crate::__private::exports::memory::Guest for Extension {
            fn save(entry: $crate::Entry) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::save(&$memory, entry)
            }

            fn search(
                query: $crate::Query,
            ) -> ::std::result::Result<::std::vec::Vec<$crate::Entry>, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::search(&$memory, query)
            }

            fn delete(id: ::std::string::String) -> ::std::result::Result<(), ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::delete(&$memory, &id)
            }
        }
        $crate::__export!(
            memory, MEMORY, "component-type:capstan:memory", __export_capstan_extension_memory_0_1_0_cabi
        );
    };
    (commands, $commands:expr) => {
        impl $crate::__private::exports::commands::Guest for Extension {
            fn run(
                name: ::std::string::String,
                arguments: ::std::string::String,
            ) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                $crate::__private::enter();
                $crate::__private::role::command($commands, &name, &arguments)
            }
        }
        $crate::__export!(
            commands, COMMANDS, "component-type:capstan:commands",
            __export_capstan_extension_commands_0_1_0_cabi
        );
    };
    // These only describe.
    (id, $value:expr) => {};
    (version, $value:expr) => {};
    (summary, $value:expr) => {};
    (requests, $value:expr) => {};
    (config, $value:expr) => {};
    (lifetime, $value:expr) => {};
    ($field:ident, $value:expr) => {
        ::std::compile_error!(::std::concat!(
            "`extension!` has no field `", ::std::stringify!($field), "`; its documentation lists all fields"
        ));
    };
}

/// Exports a hook interface, whose one function hands its parameters on.
#[doc(hidden)]
#[macro_export]
macro_rules! __hook {
    (
        $stage:ident($hook:expr, $($parameter:ident: $type:ty),+) -> $answer:ty,
        $section:ident, $name:literal, $cabi:ident
    ) => {
        impl $crate::__private::exports::$stage::Guest for Extension {
            fn run($($parameter: $type),+) -> $answer {
                $crate::__private::enter();
                $crate::__private::hook::$stage($hook, $($parameter),+)
            }
        }
        $crate::__export!($stage, $section, $name, $cabi);
    };
}

/// The functions that the host calls, and the section that tells the component linker about them.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($interface:ident, $section:ident, $name:literal, $cabi:ident) => {
        #[cfg(target_arch = "wasm32")]
        $crate::$cabi!(Extension with_types_in $crate::bindings::contract::exports::capstan::extension::$interface);
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            #[used]
            #[unsafe(link_section = $name)]
            static SECTION: [u8; $crate::bindings::sections::$section.len()] = $crate::bindings::sections::$section;
        };
    };
}
