//! Keys of providers: in the system's keyring, or in memory for this run. Never anywhere else.
//!
//! The store of the `keyring` crate is set once per process and never recovers when the Secret Service was missing or
//! restarted, so on those errors a new store is built through `keyring-core` and the call is made once more.

use pilot_types::ErrorCode;
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Service name under which keys stand in the keyring.
const SERVICE: &str = "pocketpilot";

/// A keyring that does not answer within this time is said to hang. A person who is typing a password for it can try
/// again; nothing is lost.
const LIMIT: Duration = Duration::from_secs(5);

/// Looking at its state is no reason to keep a window waiting.
const PROBE_LIMIT: Duration = Duration::from_secs(1);

/// Where a key was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the keyring.
    Keyring,
    /// In memory, until this process ends.
    ThisRun,
}

/// Why the keyring could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is none.
    #[error("no keyring on this computer: {0}")]
    Missing(String),
    /// It is locked, or refused access.
    #[error("the keyring is locked: {0}")]
    Locked(String),
    /// It does not answer.
    #[error("the keyring does not answer")]
    Hanging,
}

impl KeyError {
    /// The code that the window translates.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            KeyError::Missing(_) => ErrorCode::KeyringMissing,
            KeyError::Locked(_) => ErrorCode::KeyringLocked,
            KeyError::Hanging => ErrorCode::KeyringTimeout,
        }
    }
}

/// Keys of one process.
#[derive(Clone)]
pub struct Keys {
    system: bool,
    session: Arc<Mutex<HashMap<String, SecretString>>>,
    /// Calls that were given up and have not come back.
    stuck: Arc<AtomicUsize>,
}

impl Keys {
    /// The system's keyring, with memory for the case that there is none.
    #[must_use]
    pub fn system() -> Self {
        Self { system: true, session: Arc::default(), stuck: Arc::default() }
    }

    /// Memory only, for tests and evals.
    #[must_use]
    pub fn memory_only() -> Self {
        Self { system: false, session: Arc::default(), stuck: Arc::default() }
    }

    /// Puts a key into the keyring; where that cannot be done, into memory for this run, and says so.
    pub async fn put(&self, name: &str, key: SecretString) -> (KeyPlace, Option<KeyError>) {
        let (account, secret) = (name.to_owned(), key.clone());
        match self
            .call(LIMIT, move || entry(&account, |entry| entry.set_password(secret.expose_secret())))
            .await
        {
            Ok(()) => {
                self.session().remove(name);
                (KeyPlace::Keyring, None)
            }
            Err(error) => {
                self.session().insert(name.to_owned(), key);
                (KeyPlace::ThisRun, Some(error))
            }
        }
    }

    /// A key, from memory or the keyring.
    ///
    /// # Errors
    /// The keyring cannot be asked.
    pub async fn get(&self, name: &str) -> Result<Option<SecretString>, KeyError> {
        if let Some(key) = self.session().get(name).cloned() {
            return Ok(Some(key));
        }
        let account = name.to_owned();
        let found = self.call(LIMIT, move || entry(&account, |entry| optional(entry.get_password()))).await?;
        Ok(found.map(SecretString::from))
    }

    /// Forgets a key.
    ///
    /// # Errors
    /// The keyring cannot be asked; the key may still be there.
    pub async fn remove(&self, name: &str) -> Result<(), KeyError> {
        self.session().remove(name);
        let account = name.to_owned();
        self.call(LIMIT, move || entry(&account, |entry| optional(entry.delete_credential()).map(|_| ())))
            .await
    }

    /// True when the key is in memory only.
    #[must_use]
    pub fn for_this_run(&self, name: &str) -> bool {
        self.session().contains_key(name)
    }

    /// Whether the keyring can be used now.
    ///
    /// # Errors
    /// Why it cannot.
    pub async fn probe(&self) -> Result<(), KeyError> {
        self.call(PROBE_LIMIT, || entry("probe", |entry| optional(entry.get_password()).map(|_| ()))).await
    }

    fn session(&self) -> std::sync::MutexGuard<'_, HashMap<String, SecretString>> {
        locked(&self.session)
    }

    /// The keyring blocks, and may block for ever: it runs on a thread of its own that is given up after the limit. While
    /// such a thread is still stuck no other is started, so that a hanging keyring costs one thread and not one a call.
    async fn call<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> Result<T, KeyError> + Send + 'static,
    ) -> Result<T, KeyError> {
        if !self.system {
            return Err(KeyError::Missing("not used in this process".to_owned()));
        }
        if self.stuck.load(Ordering::SeqCst) > 0 {
            return Err(KeyError::Hanging);
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (stuck, call) = (self.stuck.clone(), Arc::new(Mutex::new(Call::Running)));
        let of_thread = call.clone();
        std::thread::spawn(move || {
            let result = work();
            let before = std::mem::replace(&mut *locked(&of_thread), Call::Ended);
            if before == Call::GivenUp {
                stuck.fetch_sub(1, Ordering::SeqCst);
            }
            // The receiver may have given up; then nobody wants the answer.
            let _ = sender.send(result);
        });
        match tokio::time::timeout(limit, receiver).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(KeyError::Missing("the keyring thread ended".to_owned())),
            Err(_) => {
                let mut call = locked(&call);
                if *call == Call::Running {
                    *call = Call::GivenUp;
                    self.stuck.fetch_add(1, Ordering::SeqCst);
                }
                Err(KeyError::Hanging)
            }
        }
    }
}

/// One call of the keyring, as its thread and the one who waits see it.
#[derive(PartialEq, Eq)]
enum Call {
    Running,
    Ended,
    GivenUp,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn optional<T>(result: keyring_core::Result<T>) -> keyring_core::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(keyring_core::Error::NoEntry) => Ok(None),
        Err(error) => Err(error),
    }
}

fn entry<T>(
    account: &str,
    work: impl Fn(&keyring_core::Entry) -> keyring_core::Result<T>,
) -> Result<T, KeyError> {
    let first = keyring::Entry::new(SERVICE, account).and_then(|entry| work(&entry.inner));
    let result = match first {
        Err(keyring_core::Error::NoDefaultStore | keyring_core::Error::PlatformFailure(_)) => rebuild_store()
            .and_then(|()| keyring_core::Entry::new(SERVICE, account))
            .and_then(|entry| work(&entry)),
        other => other,
    };
    result.map_err(|error| match error {
        keyring_core::Error::NoStorageAccess(cause) => KeyError::Locked(cause.to_string()),
        other => KeyError::Missing(other.to_string()),
    })
}

#[cfg(target_os = "linux")]
fn rebuild_store() -> keyring_core::Result<()> {
    keyring_core::set_default_store(zbus_secret_service_keyring_store::Store::new()?);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn rebuild_store() -> keyring_core::Result<()> {
    Err(keyring_core::Error::NoDefaultStore)
}
