//! Every row of the path inputs through the doors that the person has: pages of memory, skills, uploads.

use crate::support::options;
use pilot_service::view::{MemoryRequest, SkillOrigin, SkillRequest, UploadChoice, UploadRequest};
use pilot_service::{Service, ServiceError, UploadSource};
use pilot_testkit::escapes::{self, Answer, Door, DoorKind, Mounts, Report};
use pilot_types::{Digest, WorkspaceId};
use std::path::PathBuf;
use std::pin::Pin;

/// What a door does with a path.
type Doing = Pin<Box<dyn Future<Output = Result<String, ServiceError>>>>;

fn door<'a>(name: &'a str, act: fn(Service, WorkspaceId, String, PathBuf) -> Doing) -> Door<'a> {
    Door::new(name, DoorKind::Person, move |stage| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut opened = options(&stage.data());
        opened.in_memory = true;
        let service = runtime.block_on(Service::open(opened)).unwrap();
        let root = stage.workspace();
        let view = runtime.block_on(service.add_workspace(&root, None)).unwrap();
        let workspace = WorkspaceId::from_text(view.id);
        let source = stage.data().join("picked.bin");
        std::fs::write(&source, "picked").unwrap();
        Box::new(move |path| {
            let doing = act(service.clone(), workspace.clone(), path.to_owned(), source.clone());
            match runtime.block_on(doing) {
                Ok(text) => Answer::allowed(text),
                Err(error) => Answer::refused(format!("{} [{}]", error.detail(), error.code())),
            }
        })
    })
}

fn read_page(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(async move { Ok(service.memory(&workspace, Some(&path)).await?.text) })
}

fn save_page(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(async move {
        let request = MemoryRequest {
            workspace: workspace.to_string(),
            path,
            text: "remembered\n".to_owned(),
            base: None,
        };
        Ok(service.save_memory(request).await?.path)
    })
}

fn page_history(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(async move { Ok(format!("{:?}", service.memory_history(&workspace, &path).await?)) })
}

fn read_skill(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(
        async move { Ok(service.skill_text(Some(&workspace), SkillOrigin::Workspace, &path).await?.text) },
    )
}

fn save_skill(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(async move {
        let request = SkillRequest {
            workspace: workspace.to_string(),
            folder: Some(path),
            text: "---\nname: greet\ndescription: d\n---\nhello\n".to_owned(),
            base: None,
        };
        Ok(service.save_skill(request).await?.text)
    })
}

fn remove_skill(service: Service, workspace: WorkspaceId, path: String, _: PathBuf) -> Doing {
    Box::pin(async move { service.remove_skill(&workspace, &path, Some(Digest::of(b"x"))).await })
}

fn upload_name(service: Service, workspace: WorkspaceId, path: String, source: PathBuf) -> Doing {
    Box::pin(
        async move { upload(&service, &workspace, "", UploadSource { place: source, name: path }).await },
    )
}

fn upload_folder(service: Service, workspace: WorkspaceId, path: String, source: PathBuf) -> Doing {
    Box::pin(async move { upload(&service, &workspace, &path, UploadSource::of(source)).await })
}

async fn upload(
    service: &Service,
    workspace: &WorkspaceId,
    folder: &str,
    source: UploadSource,
) -> Result<String, ServiceError> {
    let plan = service.plan_upload(workspace, folder, vec![source]).await?;
    let request = UploadRequest { id: plan.id, choices: vec![UploadChoice::Replace] };
    let result = service.run_upload(&request).await?;
    match result.refused.first() {
        Some((_, code)) => Err(ServiceError::new(*code, "refused")),
        None => Ok(result.added.iter().map(|edit| edit.path.clone()).collect()),
    }
}

/// The name of a skill's folder is one name below `skills/`: whatever is a path is refused. A row whose plain name is a
/// link in the root is an ordinary new name there; that nothing outside is reached or changed is held all the same, and
/// links below `skills/` have a test of their own.
#[test]
fn every_row_holds_on_the_persons_doors() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    let doors = [
        door("memory_get", read_page),
        door("memory_save", save_page),
        door("memory_history", page_history),
        door("skill_get", read_skill),
        door("skill_save", save_skill),
        door("skill_remove", remove_skill),
        door("upload name", upload_name),
        door("upload folder", upload_folder),
    ];
    let Report { tried, skipped, wrong } = escapes::run(&rows, &doors, Mounts::Skip);
    // A row that reading may pass need not be a page, a skill or a name: only refusals are held to it.
    let plain = |line: &str| {
        let row =
            rows.iter().find(|row| line.starts_with(&format!("{} through skill_save: was allowed", row.id)));
        row.is_some_and(|row| !row.path.contains(['/', '\\', '$']) && !row.path.contains(".."))
    };
    let wrong: Vec<String> =
        wrong.into_iter().filter(|line| !line.contains(": was refused: ") && !plain(line)).collect();
    println!("{} rows, {tried} tried, {} skipped, {} wrong", rows.len(), skipped.len(), wrong.len());
    assert_eq!(wrong, Vec::<String>::new(), "every verdict and invariant holds");
    assert!(tried > 0, "the rows must have been tried");
}
