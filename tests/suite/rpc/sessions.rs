use super::*;
use anyhow::Context;
use std::path::PathBuf;

async fn file_of(client: &mut RpcClient) -> Result<PathBuf> {
    let state = client.done(json!({"type": "get_state"})).await?;
    Ok(state["sessionFile"].as_str().context("no file")?.into())
}

async fn said(client: &mut RpcClient) -> Result<Vec<String>> {
    let messages = client.done(json!({"type": "get_messages"})).await?;
    let users =
        messages["messages"].as_array().context("no messages")?.iter().filter(|said| said["role"] == "user");
    Ok(users.filter_map(|user| user["content"][0]["text"].as_str().map(str::to_owned)).collect())
}

// 001-142: new_session, switch_session, fork, clone, get_fork_messages
#[tokio::test]
async fn a_client_goes_on_with_other_sessions_in_one_process() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &[])?;
    let first = file_of(&mut client).await?;
    prompt(&mut client, "one").await?;
    prompt(&mut client, "two").await?;

    let new = json!({"type": "new_session", "parentSession": first});
    assert_eq!(client.done(new).await?, json!({"cancelled": false}));
    let second = file_of(&mut client).await?;
    assert_ne!(first, second);
    assert!(said(&mut client).await?.is_empty());
    prompt(&mut client, "elsewhere").await?;

    let switch = json!({"type": "switch_session", "sessionPath": first});
    assert_eq!(client.done(switch).await?, json!({"cancelled": false}));
    assert_eq!(said(&mut client).await?, ["one", "two"]);
    let points = client.done(json!({"type": "get_fork_messages"})).await?;
    let points = points["messages"].as_array().context("no list")?.clone();
    assert_eq!(points.iter().map(|point| &point["text"]).collect::<Vec<_>>(), ["one", "two"]);

    let fork = client.done(json!({"type": "fork", "entryId": points[1]["entryId"]})).await?;
    assert_eq!(fork, json!({"text": "two", "cancelled": false}));
    let third = file_of(&mut client).await?;
    assert_eq!(said(&mut client).await?, ["one"]);
    prompt(&mut client, "another two").await?;
    assert_eq!(client.done(json!({"type": "clone"})).await?, json!({"cancelled": false}));
    let fourth = file_of(&mut client).await?;
    assert_eq!(said(&mut client).await?, ["one", "another two"]);

    let unknown = client.refused(json!({"type": "fork", "entryId": "nothing"})).await?;
    assert!(unknown.contains("no entry nothing"), "{unknown}");
    let missing =
        client.refused(json!({"type": "switch_session", "sessionPath": "/nowhere/x.jsonl"})).await?;
    assert!(missing.contains("/nowhere/x.jsonl"), "{missing}");
    assert_eq!(file_of(&mut client).await?, fourth, "what was refused changed nothing");
    client.finish().await?.0.with_code(0);

    let mut files = vec![first.clone(), second.clone(), third, fourth];
    files.sort();
    assert_eq!(product.session_files()?, files);
    let header: Value =
        serde_json::from_str(std::fs::read_to_string(&second)?.lines().next().context("empty")?)?;
    assert_eq!(header["parentSession"], json!(first));
    Ok(())
}

// 001-142: export_html
#[tokio::test]
async fn a_session_is_exported_as_a_page() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    prompt(&mut client, "<script>hello</script>").await?;
    for path in [None, Some("page.html")] {
        let data = client.done(json!({"type": "export_html", "outputPath": path})).await?;
        let written = PathBuf::from(data["path"].as_str().context("no path")?);
        assert_eq!(written.parent(), Some(product.workspace().as_path()));
        let page = std::fs::read_to_string(written)?;
        assert!(page.contains("hello") && !page.contains("<script>"), "{page}");
    }
    let nowhere = json!({"type": "export_html", "outputPath": "/nowhere/page.html"});
    assert!(client.refused(nowhere).await?.contains("/nowhere/page.html cannot be written"));
    client.finish().await?.0.with_code(0);
    Ok(())
}
