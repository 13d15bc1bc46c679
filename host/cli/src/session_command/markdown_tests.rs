use super::*;
use capstan_ports::entry::{BashExecution, EntryKind, MessageBody, MessageEntry, SessionInfo};
use capstan_ports::message::AssistantMessage;
use capstan_ports::{Content, EntryId, Message, ToolCall};
use serde_json::json;
use std::path::Path;

fn entry(kind: EntryKind) -> Arc<Entry> {
    Arc::new(Entry { id: EntryId::new("e"), parent_id: None, timestamp: String::new(), kind })
}

#[test]
fn a_conversation_is_a_heading_for_each_speaker_and_blocks_that_hold() {
    let call = ToolCall {
        id: "c".into(),
        name: "read".into(),
        arguments: json!({"path": "```\n# user"}),
        malformed: None,
    };
    let answer = AssistantMessage {
        content: vec![Content::text("Let me `look`.\n\n# user\n\nyes"), Content::ToolCall(call)],
        model: "m_1".into(),
        ..AssistantMessage::default()
    };
    let bash = BashExecution {
        command: "cat x".into(),
        output: "````\n<script>\n".into(),
        exit_code: Some(3),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: false,
        timestamp: 0,
    };
    let branch = [
        entry(EntryKind::SessionInfo(SessionInfo { name: Some("<b>My *work*".into()) })),
        entry(EntryKind::message(Arc::new(Message::user("do <i>it</i>")))),
        entry(EntryKind::message(Arc::new(Message::Assistant(answer)))),
        entry(EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) })),
    ];
    let mut header = Header::new(Path::new("/w"));
    header.id = capstan_ports::SessionId::new("s");
    header.timestamp = "t".into();
    let expected = "\
# &lt;b\\>My \\*work\\*

s · t · /w

## user

do &lt;i>it&lt;/i>

## assistant (m\\_1)

Let me `look`.

### user

yes

Calls read:

````json
{\"path\":\"```\\n# user\"}
````

## command of the user

```sh
cat x
```

`````
````
<script>
`````

_(It ended with exit code 3.)_
";
    assert_eq!(render(&header, &branch), expected);
}
