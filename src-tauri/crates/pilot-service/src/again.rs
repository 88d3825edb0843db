//! A task once more: the same goal, folder and provider, with files that the person picked by hand if wished.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::TaskView;
use pilot_types::{Channel, ErrorCode, TaskId, TaskIntake};

/// Files named by hand at most.
const MAX_FILES: usize = 200;
/// What stands before the files in a goal, in the two languages. Also how a list from an earlier time is found.
const HEADINGS: [&str; 2] = ["\n\nUse these files:\n", "\n\n使用这些文件：\n"];

impl Service {
    /// Makes a new task with the goal, folder, provider and bounds of another, in the same conversation. The files go into
    /// the goal as plain words; what may be read does not depend on them.
    ///
    /// # Errors
    /// There is no such task, the guard refuses a file, or the task cannot be made ([`Service::create_task`]).
    pub async fn run_again(
        &self,
        id: &TaskId,
        files: Vec<String>,
        channel: Channel,
    ) -> Result<TaskView, ServiceError> {
        let task = self.task_row(id).await?;
        if files.len() > MAX_FILES {
            return Err(ServiceError::new(ErrorCode::Usage, format!("at most {MAX_FILES} files")));
        }
        let mut goal = without_files(&task.goal).to_owned();
        if !files.is_empty() {
            let guard = self.guard(&task.workspace).await?;
            let wanted = files.clone();
            blocking(move || {
                for path in &wanted {
                    guard.open_file(path).map_err(|error| ServiceError::from(error).about(path.clone()))?;
                }
                Ok(())
            })
            .await?;
            let [english, chinese] = HEADINGS;
            goal.push_str(if self.chinese() { chinese } else { english });
            for path in files {
                goal.push_str(&format!("- {path}\n"));
            }
        }
        let intake = TaskIntake {
            goal,
            workspace: task.workspace,
            channel,
            session: task.session,
            follow_up_of: None,
            provider: Some(task.provider),
            limits: Some(task.limits),
        };
        self.create_task(intake).await
    }
}

/// A goal without the list of files that an earlier time put at its end.
fn without_files(goal: &str) -> &str {
    let cut = HEADINGS.iter().filter_map(|heading| {
        let (before, list) = goal.rsplit_once(heading)?;
        list.lines().all(|line| line.starts_with("- ")).then_some(before)
    });
    cut.min_by_key(|before| before.len()).unwrap_or(goal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_from_an_earlier_time_is_left_out_and_nothing_else() {
        assert_eq!(without_files("Sum up\n\nUse these files:\n- a.csv\n- b.csv"), "Sum up", "the list goes");
        assert_eq!(without_files("汇总\n\n使用这些文件：\n- a.csv"), "汇总", "in Chinese too");
        let own = "Sum up\n\nUse these files:\nall of them";
        assert_eq!(without_files(own), own, "a person's own words stay");
    }
}
