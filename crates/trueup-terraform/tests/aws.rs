//! The largest provider there is, where its binary can be found.

use std::path::{Path, PathBuf};

use trueup_terraform::protocol::Empty;
use trueup_terraform::{Launch, Plugin};

/// The binary of a provider below the usual roots.
fn find(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".terraform.d"));
    let roots = ["/usr/share/terraform/plugins", "/usr/local/share", "/opt"].map(PathBuf::from);
    let prefix = format!("terraform-provider-{name}_");
    let mut folders: Vec<(PathBuf, usize)> = home.into_iter().chain(roots).map(|root| (root, 0)).collect();
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && depth < 8 {
                folders.push((path, depth + 1));
            } else if entry.file_name().to_string_lossy().starts_with(&prefix) && path.is_file() {
                return Some(path);
            }
        }
    }
    None
}

#[tokio::test]
async fn it_starts_and_tells_its_schemas() {
    let Some(program) = find("aws") else {
        eprintln!("skipped: no terraform-provider-aws_* below the usual folders");
        return;
    };
    let plugin = Plugin::start("aws", &Launch::new(program, std::env::vars_os().collect())).await.unwrap();
    let schema = plugin.client().schema(Empty {}).await.unwrap();
    assert!(schema.resource_schemas.len() > 1000);
    eprintln!("{:?} {}", schema.server_capabilities, schema.functions.len());
    plugin.shut_down().await;
}
